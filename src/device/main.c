#include "driver.h"
#include "output.h"

#include "../harness/elementary.h"
#include "../harness/error.h"
#include "../harness/evidence/threads.h"
#include "../harness/program.h"
#include "../harness/verdict.h"

static const struct reason reasons[] = {
	[NOT_A_CARD - REASONS] = { "not-a-card", WRONG, EITHER,
				   "the host's CPUs did the work of what calls itself a card" },
	[CARD_SHARED - REASONS] = { "card-shared", IMPRECISE, HARMED,
				    "another process has memory of the card" },
	[CLOCKS_DIFFER - REASONS] = { "clocks-differ", IMPRECISE, HARMED,
				      "a launch took longer than the device says that it worked" },
	[SINGLE_PRECISION - REASONS] = { "single-precision", IMPRECISE, EITHER,
					 "the device has no double precision: floats" },
	{ 0 },
};

/* While a card works, the threads of its driver sleep, but for the one that waits. */
static const double CPUS_OF_WAITING = 0.3;
/* A driver takes some memory for itself. */
static const double SHARED_FROM = 0.05;
static const double SECONDS = 15;

static int number, cpu, list, try, size_given, local, width, count, no_transfers;

static const struct option_row rows[] = {
	{ 'd', "device", "N", "which card, from 0 on, by PCI address (default: 0)",
	  .count = &number, .least = 0, .most = CARDS_MAX - 1 },
	{ 0, "list", NULL, "print the cards of this node, one per line", .flag = &list },
	{ 0, "try", NULL, "open the card and launch a kernel, no more", .flag = &try },
	{ 0, "cpu", NULL, "a CPU as OpenCL's device, for tests: no cards", .flag = &cpu },
	{ 'n', "array-size", "N", "elements of each of three arrays (default: by measuring)",
	  .count = &size_given, .least = 1 << 16, .most = 2000000000 },
	{ 0, "rounds", "N", "how often each kernel is timed (default: 40, within 15 s)",
	  .count = &count, .least = ROUNDS_LEAST, .most = ROUNDS_MOST - 1 },
	{ 0, "local", "N", "work-items of a group, 64 to 1024 (default: searched)",
	  .count = &local, .least = 64, .most = 1024 },
	{ 0, "width", "N", "elements per work-item, 1, 2 or 4 (default: searched)",
	  .count = &width, .least = 1, .most = 4 },
	{ 0, "no-transfers", NULL, "nothing between host and card, or card and card",
	  .flag = &no_transfers },
	{ 0 },
};

static const struct program program = {
	"device",
	"Measures the memory bandwidth of a card (GPU), and the way to it and back, by OpenCL.\n",
	rows,
	reasons,
	"GB/s",
	output_write,
	.headline = "triad",
	.pins_itself = 1,
};

static void judge_card(const struct measured *m)
{
	const struct card *const card = &m->card;
	const double cpus = m->arrays.wall_s > 0 ? m->arrays.cpu_s / m->arrays.wall_s : 0;

	if (!card_is_cpu(card) && cpus > CPUS_OF_WAITING)
		verdict_invalid(NOT_A_CARD, "'%s' kept %.1f CPUs of the host busy", card->name,
				cpus);
	if ((double)card->others_took > SHARED_FROM * (double)card->memory)
		verdict_invalid(CARD_SHARED, "%.1f of %.1f GiB of '%s' were not free",
				(double)card->others_took / ((size_t)1 << 30),
				(double)card->memory / ((size_t)1 << 30), card->name);
	if (!card->has_double)
		verdict_warn(SINGLE_PRECISION, "'%s' has no double precision: these are floats",
			     card->name);
}

/* What other processes do on the host's CPUs slows transfers, and kernels of a CPU; a card's not.
 */
static void measure(struct measured *m)
{
	if (card_is_cpu(&m->card))
		program_measuring();
	shapes_find(&m->shapes, &m->arrays, local, width);
	output_arrays(m);
	rounds_measure(&m->rounds, &m->arrays, &m->shapes, count ? count : ROUNDS_USUAL,
		       count ? 1e9 : SECONDS);
	if (!card_is_cpu(&m->card)) {
		rounds_judge(&m->rounds, &m->arrays);
		program_measuring();
	}
	if (!no_transfers)
		transfers_measure(&m->transfers, &m->arrays);
	program_measured();
	if (card_is_cpu(&m->card))
		rounds_judge(&m->rounds, &m->arrays);
	transfers_judge(&m->transfers);
}

int main(int argc, char **argv)
{
	static struct measured m;

	program_join(&argc, &argv);
	program_start(&program, argc, argv);
	threads_team(1);
	if (width == 3)
		die("'--width 3': 1, 2 or 4", "leave it out: it is searched");
	opencl_load();
	if (!try)
		driver_try(number, cpu);
	if (list) {
		card_list(cpu);
		leave(EXIT_VALID);
	}
	card_open(&m.card, number, cpu);
	kernels_build(&m.arrays, &m.card);
	if (try) { /* some drivers link at the first launch */
		kernels_take_memory(&m.arrays, 1 << 16);
		kernels_begin(&m.arrays);
		leave(EXIT_VALID);
	}
	output_card(&m.card);
	size_find(&m.size, &m.arrays, (size_t)size_given);
	size_judge(&m.size, &m.arrays);
	measure(&m);
	judge_card(&m);
	output_metrics(&m);
	leave(program_end(&m));
}

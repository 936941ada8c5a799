/*
 * loaded_read MIB ROUNDS: a generator of src/loaded that reads as fast as it can, and one pass of
 * src/ladder's read over the same memory, in turn; prints the best of each.
 *
 * GB/s of CPU time of the thread, in windows of a few ms: other processes slow both down alike.
 */
#include "../../src/harness/harness.c"

#include "../../src/ladder/kernels.c"
#include "../../src/loaded/generators.c"
#include "../../src/loaded/mixes.c"

#include <time.h>

static double rate_of_generator(void)
{
	const struct timespec window = { 0, 4000000 };
	const struct window *got;

	generators_start();
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num() == 0) {
		generators_wait_running();
		generators_tell(WINDOW_OPENS);
		nanosleep(&window, NULL);
		generators_tell(WINDOW_CLOSES);
		generators_tell(GENERATORS_STOP);
	} else {
		generator_run(0, &mixes[0], 0);
	}
	got = generator_window(0);
	return got->cpu_s > 0 ? 1e-9 * got->bytes / got->cpu_s : 0;
}

static double rate_of_ladder(void)
{
	char *const memory = (char *)(size_t)generator_memory(0, 0);
	const double began = clock_thread();

	kernel_run(KERNEL_READ, memory, generator_bytes(), 1);
	return 1e-9 * (double)generator_bytes() / (clock_thread() - began);
}

int main(int argc, char **argv)
{
	double generator = 0, ladder = 0, now;
	int rounds = argc > 2 ? atoi(argv[2]) : 0;

	generators_make(1, (size_t)atol(argv[1]) << 20);
	generator_touch(0);
	for (; rounds > 0; rounds--) {
		now = rate_of_generator();
		generator = now > generator ? now : generator;
		now = rate_of_ladder();
		ladder = now > ladder ? now : ladder;
	}
	printf("%g %g\n", generator, ladder);
	return generators.all[0].wrong != 0;
}

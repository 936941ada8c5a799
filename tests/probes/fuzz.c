/*
 * fuzz SECONDS SEED: mutated texts for everything that reads another program's or the kernel's.
 *
 * Whatever file a reader opens is a mutation of one of the seeds below, or is not there
 * (sysfile_try is replaced, tests/harness/test_fuzz.py).  A reader that hangs is ended by SIGPROF,
 * the sanitizers end what is undefined.  Prints how many cases each reader had.
 */
#include "harness/config.h"

static FILE *fuzz_open(const char *path);

#include "harness/harness.c"

#include <setjmp.h>
#include <sys/time.h>
#include <unistd.h>

enum { INPUT_MAX = 4096, HANG_SECONDS = 5 };

static const char *const seeds[] = {
	"0-3,8-11,16\n",
	"00000000,0000ffff,00000001\n",
	"{0,1},{4:2:8}:4:16,!{3}\n",
	"granularity=fine,proclist=[0,{1,2}],explicit",
	"9:cpu,cpuacct:/job_1/step\n4:memory:/job_1\n0::/system.slice/job\n",
	"max 100000\n",
	"180000 100000\n",
	"9223372036854771712\n",
	"nr_periods 5\nthrottled_usec 123456\nthrottled_time 987654321\nactive_file 4096\n",
	"cpu  10 0 20 30 0 0 0 1 0 0\ncpu0 5 0 10 15 0 0 0 1 0 0\ncpu1 5 0 10 15 0 0 0 0 0 0\n",
	"4711 (a (b) c) R 1 4711 4711 0 -1 4 0 0 0 0 100 20 3 4 20 0 1 0 5\n",
	"123456789 1234567 89\n",
	"MemTotal: 24000000 kB\nMemAvailable: 1000 kB\nCommitLimit: 8 kB\nCommitted_AS: 9 kB\n",
	"Node 0 MemTotal: 1000 kB\nNode 0 MemFree: 900 kB\n",
	"Mems_allowed_list:\t0-1\nCpus_allowed_list:\t0-1\nVmSize: 100 kB\n",
	"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\napicid : 0\n"
	"physical id : 0\nflags\t\t: fpu constant_tsc nonstop_tsc\n",
	"CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
	"7f0000000000-7f0000200000 rw-p 00000000 00:00 0\nAnonHugePages: 2048 kB\n",
	"always [madvise] never\n",
	"10 21 32\n",
	"csrow 3 channel 1 \n",
	"32768\n",
	"480M\n",
	"{\"preset\": \"gcc-o2\", \"code_sha256\": \"\\u00fc\\\"\", \"flags\": \"-O2\"}\n",
	"\x11\x28\x00\x11\0\0\0\0\x48\0\x40\0\0\x80\0\0\1\2\x1a\0\0\x80\x0c\0\0\0\0\0\0\0\0\0\x80"
	"\x0c"
	"\0\0\0\0\0\0DIMM 0\0P0 CHANNEL A\0\0",
	"100M",
	"1e8",
	"150.5",
	"nan",
};
enum { SEEDS = sizeof(seeds) / sizeof(*seeds) };

static unsigned long long state;
static char input[INPUT_MAX];
static size_t input_length;

static unsigned below(unsigned most)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % most;
}

/* What parsers of numbers and lists trip over. */
static void put_in(void)
{
	static const char *const pieces[] = { "9223372036854775807",
					      "-1",
					      "99999999999999999999",
					      "0-8191",
					      ",,",
					      "{",
					      "1e308",
					      "-",
					      ":",
					      "channel 64",
					      "\xff",
					      "nan" };
	const char *piece = pieces[below(sizeof(pieces) / sizeof(*pieces))];
	const size_t at = below((unsigned)input_length + 1), length = strlen(piece);

	if (input_length + length >= INPUT_MAX)
		return;
	memmove(input + at + length, input + at, input_length - at);
	memcpy(input + at, piece, length);
	input_length += length;
}

static void mutate(void)
{
	const char *seed = seeds[below(SEEDS)];
	int changes = (int)below(6);

	/* the one with zero bytes has more than its string */
	input_length = seed[0] == 0x11 ? 60 : strlen(seed);
	memcpy(input, seed, input_length);
	while (changes--) {
		const unsigned what = below(5);

		if (what == 0)
			input[below((unsigned)input_length + 1)] = (char)below(256);
		else if (what == 1)
			input_length = below((unsigned)input_length + 1);
		else if (what == 2)
			put_in();
		else if (what == 3 && input_length)
			input[below((unsigned)input_length)] ^= (char)(1 << below(8));
		else if (2 * input_length < INPUT_MAX) { /* twice */
			memcpy(input + input_length, input, input_length);
			input_length *= 2;
		}
	}
	input[input_length] = '\0';
}

/* Each file is another text; one of four is not there, which ends what counts files. */
static FILE *fuzz_open(const char *path)
{
	static char text[16][INPUT_MAX];
	static int turn;
	char *const room = text[turn++ % 16];

	(void)path;
	mutate();
	memcpy(room, input, input_length);
	return below(4) && input_length ? fmemopen(room, input_length, "r") : NULL;
}

static jmp_buf refused;

static void on_refusal(const char *fact, const char *hint)
{
	(void)fact;
	(void)hint;
	longjmp(refused, 1);
}

static void read_list(void)
{
	static char text[CPU_LIST_MAX];
	struct cpuset set, again;

	cpuset_parse(&set, input);
	cpuset_format(&set, text);
	cpuset_parse(&again, text);
	if (memcmp(&set, &again, sizeof(set)) != 0)
		abort();
	cpuset_parse_mask(&set, input);
}

static void read_dmi(void)
{
	static struct modules modules;
	unsigned char *table = malloc(input_length ? input_length : 1);

	memcpy(table, input, input_length);
	dmi_parse(&modules, table, input_length);
	free(table);
	if (dmi_channels(&modules, (int)below(3)) > modules.slots)
		abort();
}

static void read_edac(void)
{
	static struct modules modules;

	if (edac_read(&modules) > 64 * 64)
		abort();
}

static void read_cgroup(void)
{
	cgroup_smallest("memory", "memory.max", "memory.current");
	if (cgroup_whole_cpus() < 0 || cgroup_throttled() < 0)
		abort();
}

static void read_memory(void)
{
	struct cpuset domains;

	cpuset_clear(&domains);
	cpuset_add(&domains, 0);
	memory_available();
	domains_side_cache(&domains);
	domain_distance(0, 1);
	domains_allowed(&domains);
}

static void read_caches(void)
{
	size_t bytes[LLC_LEVELS_MAX];
	struct hugepages pages;
	struct cpuset one;
	struct llc llc;

	cpuset_clear(&one);
	cpuset_add(&one, 0);
	llc_find(&llc, &one, NULL);
	llc_levels(bytes, 0);
	line_bytes();
	hugepages_read(&pages, input, 1, PAGES_DEFAULT);
}

static void read_processes(void)
{
	struct interference busy;
	struct neighbour process;
	struct tasks tasks = { NULL, 0, 0 };
	struct cpuset all;

	cpuset_clear(&all);
	interference_read_cpus(&busy, &all);
	neighbour_read(&process, "1");
	worker_read_task(&tasks, "1");
	free(tasks.list);
}

static void read_facts(void)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	json_begin(nowhere);
	facts_write();
}

static void read_build(void)
{
	char text[16];

	if (!build_read_file("stream.json"))
		return;
	build_string("preset", text, sizeof(text));
	build_string("flags", text, sizeof(text));
}

static void read_option(void)
{
	const double number = option_number("-x", input, 1e9, "");

	if (!(number > 0 && number <= 1e9))
		abort();
}

static void read_count(void)
{
	if (option_count("-x", input, 8, 1000000) - 8 > 1000000 - 8)
		abort();
}

static void read_pinning(void)
{
	size_t i;

	if (input_length == 0)
		return;
	setenv("OMP_PLACES", input, 1);
	setenv("KMP_AFFINITY", input, 1);
	for (i = 0; i < sizeof(pinning_values) / sizeof(*pinning_values); i++)
		pinning_is_valid(&pinning_values[i], input);
	pinning_places_are_wide();
	if (pinning_lost_cpu(input) < -1)
		abort();
}

static const struct reader {
	const char *name;
	void (*read)(void);
} readers[] = {
	{ "lists of CPUs", read_list },
	{ "values of pinning", read_pinning },
	{ "DMI", read_dmi },
	{ "EDAC", read_edac },
	{ "cgroups", read_cgroup },
	{ "memory", read_memory },
	{ "caches", read_caches },
	{ "processes", read_processes },
	{ "facts", read_facts },
	{ "BINARY.json", read_build },
	{ "numbers of options", read_option },
	{ "counts of options", read_count },
};
enum { READERS = sizeof(readers) / sizeof(*readers) };

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 1;
	const struct itimerval hang = { { 0, 0 }, { HANG_SECONDS, 0 } }; /* of CPU time */
	volatile int r;

	state = 88172645463325252ULL + (argc > 2 ? strtoull(argv[2], NULL, 10) : 0);
	error_hooks(on_refusal, NULL);
	for (r = 0; r < READERS; r++) {
		const double end = clock_now() + seconds / READERS;
		volatile unsigned cases = 0;

		while (clock_now() < end) {
			setitimer(ITIMER_PROF, &hang, NULL);
			mutate();
			if (!setjmp(refused))
				readers[r].read();
			cases++;
		}
		printf("%s: %u cases\n", readers[r].name, cases);
		fflush(stdout);
	}
	return 0;
}

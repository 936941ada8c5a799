#include "cpu_clock.h"

#include "../clock.h"
#include "../elementary.h"

/* 64 additions per turn: the loop around them runs in parallel with the chain. */
enum { CHAIN_TURNS = 500, CHAIN_LENGTH = 64 };
/* of eight chains: as long as one chain, where four additions are done at once */
enum { CHAINS_TURNS = 4 * CHAIN_TURNS };

#if defined(__x86_64__) && !defined(__MIC__)

#define ADD_ONE_TO(sum) "add %9, %" sum "\n\t"
#define UNTIL_NONE_IS_LEFT "dec %0\n\tjnz 1b"

static int cpu_clock_chain(long turns)
{
	long sum = 0, one = 1;

	/* not an immediate: some CPUs add those for nothing when they rename registers */
	__asm__ volatile("1: .rept 64\n\t"
			 "add %2, %1\n\t"
			 ".endr\n\t"
			 "dec %0\n\t"
			 "jnz 1b"
			 : "+r"(turns), "+r"(sum)
			 : "r"(one)
			 : "cc");
	return 1;
}

#elif defined(__aarch64__)

#define ADD_ONE_TO(sum) "add %" sum ", %" sum ", %9\n\t"
#define UNTIL_NONE_IS_LEFT "subs %0, %0, #1\n\tb.ne 1b"

static int cpu_clock_chain(long turns)
{
	long sum = 0, one = 1;

	__asm__ volatile("1: .rept 64\n\t"
			 "add %1, %1, %2\n\t"
			 ".endr\n\t"
			 "subs %0, %0, #1\n\t"
			 "b.ne 1b"
			 : "+r"(turns), "+r"(sum)
			 : "r"(one)
			 : "cc");
	return 1;
}

#else

static int cpu_clock_chain(long turns)
{
	(void)turns;
	return 0;
}

#endif

/* Eight chains in turn, which do not wait for each other. */
static void cpu_clock_chains(long turns)
{
#ifdef ADD_ONE_TO
	long a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, one = 1;

	__asm__ volatile("1: .rept 8\n\t" ADD_ONE_TO("1") ADD_ONE_TO("2") ADD_ONE_TO("3")
				 ADD_ONE_TO("4") ADD_ONE_TO("5") ADD_ONE_TO("6") ADD_ONE_TO("7")
					 ADD_ONE_TO("8") ".endr\n\t" UNTIL_NONE_IS_LEFT
			 : "+r"(turns), "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f),
			   "+r"(g), "+r"(h)
			 : "r"(one)
			 : "cc");
#else
	(void)turns;
#endif
}

double cpu_clock_ghz(void)
{
	const double began = clock_now();

	if (!cpu_clock_chain(CHAIN_TURNS))
		return 0;
	return 1e-9 * CHAIN_TURNS * CHAIN_LENGTH / (clock_now() - began);
}

double cpu_additions_per_cycle(void)
{
	const double ghz = cpu_clock_ghz(), began = clock_now();

	if (!is_positive(ghz))
		return 0;
	cpu_clock_chains(CHAINS_TURNS);
	return CHAINS_TURNS * CHAIN_LENGTH / (1e9 * (clock_now() - began) * ghz);
}

#include "cpu_clock.h"

#include "../clock.h"
#include "../elementary.h"

/* 64 additions per turn: the loop around them runs in parallel with the chain. */
enum { CHAIN_TURNS = 500, CHAIN_LENGTH = 64 };
/* of eight chains: as long as one chain, where four additions are done at once */
enum { CHAINS_TURNS = 4 * CHAIN_TURNS };

#if defined(__x86_64__) && !defined(__MIC__)
/* not an immediate: some CPUs add those for nothing when they rename registers */
#define ADD_TO(sum, one) "add %" one ", %" sum "\n\t"
#define UNTIL_NONE_IS_LEFT "dec %0\n\tjnz 1b"
#elif defined(__aarch64__)
#define ADD_TO(sum, one) "add %" sum ", %" sum ", %" one "\n\t"
#define UNTIL_NONE_IS_LEFT "subs %0, %0, #1\n\tb.ne 1b"
#endif

#ifdef ADD_TO

static int cpu_clock_chain(long turns)
{
	long sum = 0, one = 1;

	__asm__ volatile("1: .rept 64\n\t" ADD_TO("1", "2") ".endr\n\t" UNTIL_NONE_IS_LEFT
			 : "+r"(turns), "+r"(sum)
			 : "r"(one)
			 : "cc");
	return 1;
}

/* Eight chains in turn, which do not wait for each other. */
static void cpu_clock_chains(long turns)
{
	long a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, one = 1;

	__asm__ volatile("1: .rept 8\n\t" ADD_TO("1", "9") ADD_TO("2", "9") ADD_TO("3", "9")
				 ADD_TO("4", "9") ADD_TO("5", "9") ADD_TO("6", "9")
					 ADD_TO("7", "9")
						 ADD_TO("8", "9") ".endr\n\t" UNTIL_NONE_IS_LEFT
			 : "+r"(turns), "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f),
			   "+r"(g), "+r"(h)
			 : "r"(one)
			 : "cc");
}

#else
#define cpu_clock_chain(turns) 0
#define cpu_clock_chains(turns) ((void)0)
#endif

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

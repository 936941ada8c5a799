#include "cpu_clock.h"

#include "../clock.h"

/* 64 additions a turn: the loop around them runs beside the chain. */
enum { CHAIN_TURNS = 500, CHAIN_LENGTH = 64 };

#if defined(__x86_64__) && !defined(__MIC__)

static int chain(long turns)
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

static int chain(long turns)
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

static int chain(long turns)
{
	(void)turns;
	return 0;
}

#endif

double cpu_clock_ghz(void)
{
	const double began = clock_now();

	if (!chain(CHAIN_TURNS))
		return 0;
	return 1e-9 * CHAIN_TURNS * CHAIN_LENGTH / (clock_now() - began);
}

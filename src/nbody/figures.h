/*
 * figures: what is said of a crew's rounds: speed-up, verdict, record, table.
 */
#pragma once

#include "../harness/order_statistics.h"
#include "../harness/verdict.h"
#include "measure.h"

/* Own reasons of this program, in the order of their names in main.c. */
enum { THREADS_IDLE = REASONS, OFFLOAD_NOT_DONE, NO_BASELINE };

struct figure {
	struct order_statistics seconds;
	struct order_statistics speed_up; /* over the baseline's run of the same round */
	double gflops;                    /* 20 flop per interaction */
	double efficiency;                /* speed-up per thread */
	double additions;                 /* per cycle, median over the rounds */
	/* Karp and Flatt, Measuring Parallel Processor Performance, CACM 33 (1990): the part of
	 * the work that is not shared; from the median and both ends of the speed-up */
	double serial, serial_low, serial_high;
};

void figure_of(struct figure *figure, const struct crew *crew, const struct crew *baseline,
	       long bodies, int rounds);

void figure_judge(const struct figure *figure, const struct crew *crew,
		  const struct figure *baseline, enum precision precision);

/* GFlop/s with the interval of its median, or as a lower bound; the speed-up, with an interval
 * where both were undisturbed and it is within 10 %. */
void figure_metrics(const struct figure *figure, const struct crew *crew,
		    const struct figure *baseline, const struct crew *baseline_crew);
void figure_write(const struct figure *figure, const struct crew *crew);

void figures_print_head(void);
void figure_print(const struct figure *figure, const struct crew *crew);

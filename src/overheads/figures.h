/*
 * figures: what is said of a construct's pairs: overhead, verdict, record, table.
 */
#pragma once

#include "../harness/order_statistics.h"
#include "measure.h"

/* In us per repetition. */
struct figure {
	struct order_statistics overhead; /* of the paired differences */
	double with, without;             /* medians */
	double mean, half_width;          /* EPCC's, of the same samples: see figures.c */
	double break_even;                /* the kernel of which the overhead is 10 % */
};

void figure_of(struct figure *figure, const struct overhead *overhead);

/* "barrier_t2", "copyin_72_t2"; lives as long as the program. */
const char *figure_name(const struct construct *construct, int threads);

/* Whether its interval makes it a figure: within 10 % of the construct's time, and most of its
 * pairs undisturbed. */
int figure_is_steady(const struct figure *figure, const struct overhead *overhead);

/* Finds what is wrong, not only disturbed. */
void figure_judge(const struct figure *figure, const struct overhead *overhead);

void figure_write(const struct figure *figure, const struct overhead *overhead);

void figures_print_head(int threads);
void figure_print(const struct figure *figure, const struct overhead *overhead);

/*
 * output: what was found, in lines, as metrics, and as a part of the record.
 */
#pragma once

#include "rounds.h"
#include "size.h"
#include "transfers.h"

struct measured {
	struct card card;
	struct arrays arrays;
	struct size_found size;
	struct shapes shapes;
	struct rounds rounds;
	struct transfers transfers;
};

/* What is measured; before it is. */
void output_card(const struct card *card);
void output_arrays(const struct measured *m);

/* copy, scale ..., h2d_pinned_0 of NUMA domain 0, to_card_1. */
void output_metrics(const struct measured *m);

void output_write(const void *measured);

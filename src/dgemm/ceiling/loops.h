/*
 * loops: multiply and add in registers alone, by each instruction set: nothing else can be faster.
 */
#pragma once

#include "../../harness/config.h"

struct loop {
	const char *name;
	int lanes; /* doubles per register */
	int flops; /* of a turn */
	void (*run)(long turns, const double *numbers);
};

/* Those that this CPU can run, the widest first; COUNT of them. */
const struct loop *const *loops(int *count);

/* TURNS turns, on numbers that keep all bits of their mantissas moving: power, and with it the
 * clock, depends on them. */
void loop_run(const struct loop *loop, long turns);

/*
 * delay: work of a known length that leaves a trace.
 *
 * A step multiplies a word of 64 bits by a constant, so that whoever knows how many steps all
 * threads took together knows the product of their words: work that was lost, done twice or
 * optimized away does not go unseen (power()).
 */
#pragma once

#include "../harness/config.h"

typedef unsigned long long word;

/* Measures a step, and sets the delay to so many seconds. */
void delay_calibrate(double seconds);

NOINLINE word delay(word x);

/* What COUNT delays make of the word 1. */
word delays(word count);

/* As calibrated: steps of a delay, and its seconds. */
long delay_steps(void);
double delay_seconds(void);

#define DELAY_DOUBLED 1.5 /* less is a formula's */

/* What twice the steps take, in parts of what they take once: 2, unless a compiler found a
 * formula. */
double delay_doubled(void);

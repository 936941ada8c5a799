/*
 * code: is it this CPU's, and was it made to be fast?
 *
 * A program of another architecture runs by qemu-user without anybody's knowing, at a tenth of the
 * rate: what the kernel says of its CPU is then of another machine than the program is built for,
 * or CPUID of another CPU than the kernel's.
 */
#pragma once

#include "../config.h"

/* Finds translated and slow-build. */
LOCAL void code_judge(void);

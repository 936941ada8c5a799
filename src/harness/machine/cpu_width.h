/*
 * cpu_width: the widest registers that this CPU and its kernel let us use.
 */
#pragma once

#include "../config.h"

#if defined(__x86_64__) && !defined(__MIC__)
/* CPUID, by instruction: icc has no builtin, and this binary serves all CPUs. */
LOCAL void cpu_id(unsigned leaf, unsigned subleaf, unsigned reg[4]);
#endif

/* Bits: 512 (AVX-512F), 256 (AVX2) or 128 on x86-64, 128 (NEON) on aarch64, else 0. */
LOCAL int cpu_width(void);

/* Bytes of an SVE register, as many as this process may use; 0: the CPU has none. */
LOCAL int cpu_sve_bytes(void);

/* Whether registers of 256 bits can be used for floating point, AVX2 or not. */
LOCAL int cpu_has_avx(void);

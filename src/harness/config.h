/*
 * config: what every file agrees on.
 *
 * Must be included before any system header: it asks for the Linux extensions.  A file has it, and
 * the C library's three headers that nearly all use, by way of its own header.
 * The sources stay within C11 and gnu89 at once, because icc 13 (the compiler
 * of the Knights Corner recipes) starts in gnu89.
 */
#ifndef MEMBW_CONFIG_H /* tcc and old xlc take #pragma once by path, and this has several */
#define MEMBW_CONFIG_H

#ifndef __linux__
#error "membw measures on Linux alone: it reads /proc and /sys, and asks Linux for CPUs and pages"
#endif

/* Not C11's _Static_assert: icc 13 lacks it. */
typedef char membw_needs_a_64_bit_compiler[sizeof(void *) == 8 ? 1 : -1];

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBW_VERSION "1.1.0-dev"

enum { MIB = 1 << 20 }; /* bytes */

/* Bytes of the smallest cache line that a program counts in; machine/line_size.h has this
 * machine's. */
#ifdef __powerpc64__
enum { LINE = 128 };
#else
enum { LINE = 64 };
#endif

/* Bytes between what two threads write: a line of A64FX, two or more of the others (x86 fetches
 * them in pairs). */
enum { LINES_APART = 256 };

/* Before each function of the harness: a program is one file for the compiler, with all of the
 * harness in it, and what it does not use is then not compiled.  -DLOCAL= where tests give the
 * compiler several files. */
#ifndef LOCAL
#define LOCAL static __attribute__((unused))
#endif

#define NOINLINE __attribute__((noinline))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

#endif

/*
 * config: what every file agrees on.
 *
 * Must be included before any system header: it asks for the Linux extensions.  A file has it, and
 * the C library's three headers that nearly all use, by way of its own header.
 * The sources stay within C11 and gnu89 at once, because icc 13 (the compiler
 * of the Knights Corner recipes) starts in gnu89.
 */
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBW_VERSION "1.1.0-dev"

enum { LINE = 64 }; /* bytes of a cache line */

/* Before each function of the harness: a program is one file for the compiler, with all of the
 * harness in it, and what it does not use is then not compiled.  -DLOCAL= where tests give the
 * compiler several files. */
#ifndef LOCAL
#define LOCAL static __attribute__((unused))
#endif

#define NOINLINE __attribute__((noinline))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

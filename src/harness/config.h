/*
 * config: what the whole program agrees on.
 *
 * STREAM's macros (STREAM_ARRAY_SIZE, NTIMES, OFFSET, STREAM_TYPE) set the
 * defaults at compile time, the options override them at run time.  Must be
 * included before any system header: it asks for the Linux extensions.
 * The sources stay within C11 and gnu89 at once, because icc 13 (the compiler
 * of the Knights Corner recipes) starts in gnu89.
 */
#ifndef MEMBW_CONFIG_H
#define MEMBW_CONFIG_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stddef.h>

#define MEMBW_VERSION "0.1.0"

#ifdef STREAM_ARRAY_SIZE
#define ARRAY_SIZE_MACRO ((long long)(STREAM_ARRAY_SIZE))
#define ARRAY_SIZE_GIVEN 1
#else
#define ARRAY_SIZE_MACRO 0LL
#define ARRAY_SIZE_GIVEN 0
#endif

#ifndef NTIMES
#define NTIMES 10
#endif

#ifndef OFFSET
#define OFFSET 0
#endif

#ifndef STREAM_TYPE
#define STREAM_TYPE double
#endif

typedef STREAM_TYPE element;

/* For the preprocessor: is it float or double?  0 for any other. */
#define ELEMENT_IS_PASTED(type) ELEMENT_IS_##type
#define ELEMENT_IS_OF(type) ELEMENT_IS_PASTED(type)
#define ELEMENT_IS ELEMENT_IS_OF(STREAM_TYPE)
#define ELEMENT_IS_float 4
#define ELEMENT_IS_double 8

enum { LINE = 64 }; /* bytes of a cache line */

#define NOINLINE __attribute__((noinline))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))

#endif

/*
 * macros: STREAM's (STREAM_ARRAY_SIZE, NTIMES, OFFSET, STREAM_TYPE) set the defaults at compile
 * time, the options override them at run time.
 */
#pragma once

#include "../harness/config.h"

#ifdef STREAM_ARRAY_SIZE
#define ARRAY_SIZE_MACRO ((long long)(STREAM_ARRAY_SIZE))
#define ARRAY_SIZE_GIVEN 1
#else
#define ARRAY_SIZE_MACRO 0LL
#define ARRAY_SIZE_GIVEN 0
#endif

#ifdef NTIMES
#define NTIMES_MACRO (NTIMES)
#define NTIMES_GIVEN 1
#else
#define NTIMES_MACRO 0
#define NTIMES_GIVEN 0
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
#define ELEMENT_IS_long -1 + /* "long double": double is 0 to the preprocessor */

#if ELEMENT_IS < 0
#error "STREAM_TYPE is neither float nor double: compile with -DSTREAM_TYPE=float or double"
#endif

/*
 * team_sizes: the numbers of threads that a program goes through, one team after the other.
 */
#pragma once

#include "config.h"

enum { TEAM_SIZES_MAX = 64 };

struct team_sizes {
	int count; /* 0: nothing was requested */
	int threads[TEAM_SIZES_MAX];
};

/* A list with commas, as 1,2,4: afterwards rising, each once. */
LOCAL void team_sizes_read(struct team_sizes *sizes, const char *option, const char *text,
			   const char *hint);

/* 1, 2, 4, ... and MOST, at most THREADS_MAX. */
enum { THREADS_MAX = 1 << 16 };
LOCAL void team_sizes_double(struct team_sizes *sizes, int most);

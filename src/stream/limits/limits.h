/*
 * limits: kernels that are not STREAM's and show what the memory can do at all.
 *
 * limit          loop                 counted bytes  moved
 * read           sum of the bits            8           8
 * fill           a[i] = s, ordinary         8          16   (double; half for float)
 * fill-nt        a[i] = s, past caches      8           8
 * update         a[i] = s * a[i]           16          16
 *
 * Each is tried in every register width that the CPU has, twice; the best is
 * then run NTIMES times by STREAM's rules.  All results are checked to the bit.
 * Reading and filling alone give a bound for a kernel that reads r and writes w
 * bytes in turn: (r + w) / (r / READ + w / FILL).
 */
#pragma once

#include "../measure.h"

enum limit { LIMIT_read, LIMIT_fill, LIMIT_fill_nt, LIMIT_update, LIMITS };

struct limits {
	struct {
		const char *width;     /* of the best; NULL: not to be had here */
		size_t counted, moved; /* bytes per element */
		struct timing timing;
	} of[LIMITS];
	int ntimes;
	size_t wrong; /* elements or sums that were not as they must be */
	struct {
		double moved_gbs;             /* 0 where nobody knows: Standard kernels */
		double share_read, share_mix; /* of the best read, of read and fill in turn */
	} kernel[KERNELS];
};

extern const char *const limits_names[LIMITS];

/* Runs them; the arrays hold anything afterwards.  Finds not-validated. */
void limits_measure(struct limits *limits, const struct arrays *arrays,
		    const struct measurement *measurement, const struct kernel_choice *choice);

/* Writes "limits" of the record; null where they were not measured. */
void limits_record(const struct limits *limits);

void limits_print(const struct limits *limits);

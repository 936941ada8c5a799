/*
 * curve: what a curve of latency over bandwidth says.
 *
 * A round measures the whole curve of a mix once: its points in order of pressure, that is of the
 * rate that was requested, the first without traffic.  Latency never falls as pressure rises, so
 * it is made monotone (pool adjacent violators) and read off by straight lines between points.
 * Of R rounds a figure is the median, and its interval reaches from the least to the largest: of
 * five rounds they hold the median of all rounds with 94 %, whatever its distribution.
 *
 * Bandwidth may fall while pressure still rises, as rows of the DRAM conflict: "wave form"
 * (Esmaili-Dokht and others, A Mess of Memory System Benchmarking, MICRO 2024).  Where the latency
 * is twice the unloaded one (theirs: saturation starts) is therefore looked for in order of
 * pressure, not of bandwidth.
 */
#pragma once

#include "../harness/config.h"

enum { CURVE_POINTS_MAX = 32 };

struct curve_point {
	double gbs; /* counted, as it was held; 0 without traffic */
	double ns;
};

struct curve_figures {
	double max_gbs;
	double ns_at_half; /* latency at half of max_gbs */
	double gbs_at_2x;  /* where the latency is twice that of the first point; 0: nowhere */
	int has_wave_form; /* the rate fell by 3 % and more under more pressure */
};

/* Of at least two points in order of pressure, the first of them without traffic. */
void curve_read(struct curve_figures *figures, const struct curve_point *points, int count);

#include "limits.h"

#include "../../harness/json.h"

#include <stdio.h>

static void write_limit(const struct limits *l, int limit)
{
	int i;

	json_open(limits_names[limit], '{');
	json_text("width", l->of[limit].width);
	json_count("bytes_per_element", l->of[limit].counted);
	json_count("moved_bytes_per_element", l->of[limit].moved);
	json_number("best_mbs", l->of[limit].timing.best_mbs);
	json_open("times_s", '[');
	for (i = 0; i < l->ntimes && l->of[limit].width; i++)
		json_number(NULL, l->of[limit].timing.times[i]);
	json_close(']');
	json_close('}');
}

void limits_record(const struct limits *l)
{
	int i;

	if (!l) {
		json_text("limits", NULL);
		return;
	}
	json_open("limits", '{');
	json_truth("ok", l->wrong == 0);
	for (i = 0; i < LIMITS; i++)
		write_limit(l, i);
	json_open("of_limits", '{');
	for (i = 0; i < KERNELS; i++) {
		if (!(l->kernel[i].moved_gbs > 0))
			continue;
		json_open(kernels[i].name, '{');
		json_number("moved_gbs", l->kernel[i].moved_gbs);
		json_number("share_of_read", l->kernel[i].share_read);
		json_number("share_of_read_and_fill", l->kernel[i].share_mix);
		json_close('}');
	}
	json_close('}');
	json_close('}');
}

void limits_print(const struct limits *l)
{
	int i;

	for (i = 0; i < LIMITS; i++)
		if (l->of[i].width)
			printf("Limit %-7s = %10.1f MB/s (%zu bytes per element counted, %zu "
			       "moved; "
			       "%s bits)\n",
			       limits_names[i], l->of[i].timing.best_mbs, l->of[i].counted,
			       l->of[i].moved, l->of[i].width);
	for (i = 0; i < KERNELS; i++)
		if (l->kernel[i].moved_gbs > 0)
			printf("Tuned %-5s moves %.1f GB/s, %.0f %% of reading alone, %.0f %% of "
			       "reading and filling in turn\n",
			       kernels[i].name, l->kernel[i].moved_gbs,
			       100 * l->kernel[i].share_read, 100 * l->kernel[i].share_mix);
}

/*
 * repetitions: which of a shape's multiplications count, and what they say together.
 */
#pragma once

#include "shape.h"

#include "../harness/order_statistics.h"
#include "../harness/rate.h"

/* Whether it counts (rate.h), as far as can be seen: none of its threads lost more than 5 % of its
 * time, what they could do before and after was the same within 2 %, and per cycle within 3 % of
 * the most that the shape saw.  A process on the other hardware thread of a core takes of the
 * second and third alone: the clock stays. */
int repetition_is_clean(const struct shape *shape, int i);

int repetitions_clean(const struct shape *shape);

/* The shares of what was attainable, in percent: of the clean ones; of all, where none is. */
void repetitions_share(struct order_statistics *share, const struct shape *shape);

/* Half of the interval of their median, in points. */
double repetitions_half_width(const struct order_statistics *share);

/* Whether that interval can be stated: of six clean ones and within 2 points. */
int repetitions_share_is_known(const struct shape *shape);

/* GFlop/s: the best of the clean ones, or a lower bound. */
void repetitions_rate(struct rate *rate, const struct shape *shape);

/* The median, over the repetitions that count, of what ASK returns. */
double repetitions_median(const struct shape *shape,
			  double (*figure_of)(const struct repetition *));

#include "plan.h"

#include "clock.h"

#include <unistd.h>

static const double PLAN_EVERY_TERMINAL = 0.2, PLAN_EVERY = 10, PLAN_NEVER = 1e300;

static double plan_began, plan_said;
static int plan_has_line;

void plan_done(const char *what, int done, int all)
{
	plan_done_part(what, done, all, (double)done / all, PLAN_NEVER);
}

void plan_done_part(const char *what, int done, int all, double part, double until)
{
	const int is_terminal = isatty(STDERR_FILENO);
	const double now = clock_now(), every = is_terminal ? PLAN_EVERY_TERMINAL : PLAN_EVERY;
	double left;

	if (!done)
		plan_began = plan_said = now;
	if (!done || now - plan_said < every)
		return;
	plan_said = now;
	plan_has_line = is_terminal;
	left = (now - plan_began) / part * (1 - part);
	if (left > until - now)
		left = until - now;
	fprintf(stderr, "%s%d of %d %s, about %.0f s left%s",
		plan_has_line ? "\r\033[K" : "membw-progress: ", done, all, what,
		left > 0 ? left : 0, plan_has_line ? "" : "\n");
}

void plan_end(void)
{
	if (plan_has_line)
		fprintf(stderr, "\r\033[K");
	plan_has_line = 0;
}

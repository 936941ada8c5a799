#include "watchdog.h"

#include <signal.h>

static volatile sig_atomic_t watchdog_signal;

/* What launchers, batch systems and people send before they kill, at a limit of time or CPU time,
 * or because a terminal or another rank is gone. */
static const struct {
	int number;
	const char *name;
} watchdog_ends[] = {
	{ SIGTERM, "SIGTERM" }, { SIGINT, "SIGINT" },   { SIGHUP, "SIGHUP" },
	{ SIGUSR1, "SIGUSR1" }, { SIGUSR2, "SIGUSR2" }, { SIGXCPU, "SIGXCPU" },
};
enum { WATCHDOG_ENDS = sizeof(watchdog_ends) / sizeof(*watchdog_ends) };

/* Who types ^C twice does not want to wait. */
static void watchdog_on_signal(int number)
{
	if (number == SIGINT && watchdog_signal == SIGINT) {
		signal(SIGINT, SIG_DFL);
		raise(SIGINT);
	}
	watchdog_signal = number;
}

void watchdog_heed(int number)
{
	const struct sigaction action = { .sa_handler = watchdog_on_signal,
					  .sa_flags = SA_RESTART };

	sigaction(number, &action, NULL);
}

void watchdog_heed_ends(void)
{
	struct sigaction before;
	int i;

	signal(SIGXFSZ, SIG_IGN); /* who writes is told, and says so */
	for (i = 0; i < WATCHDOG_ENDS; i++)
		if (sigaction(watchdog_ends[i].number, NULL, &before) != 0 ||
		    before.sa_handler != SIG_IGN)
			watchdog_heed(watchdog_ends[i].number);
}

int watchdog_signalled(void)
{
	return watchdog_signal;
}

const char *watchdog_ended_by(void)
{
	static char text[32];
	int i;

	for (i = 0; i < WATCHDOG_ENDS; i++)
		if (watchdog_ends[i].number == watchdog_signal) {
			snprintf(text, sizeof(text), "%s (signal %d)", watchdog_ends[i].name,
				 watchdog_ends[i].number);
			return text;
		}
	return NULL;
}

#ifdef MEMBW_MPI

#include "../error.h"

#include <sys/time.h>
#include <unistd.h>

static const char *volatile watchdog_doing = "";
static char watchdog_who[160];

/* Async-signal-safe: write and _exit alone; what write returns is of no use any more. */
static void watchdog_write(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(EXIT_INVALID);
}

static void watchdog_on_alarm(int number)
{
	(void)number;
	watchdog_write(watchdog_who);
	watchdog_write(watchdog_doing);
	watchdog_write("\nhint: look at this node, or give more '--timeout'\n");
	_exit(EXIT_INVALID);
}

void watchdog_start(int rank, const char *node)
{
	const struct sigaction action = { .sa_handler = watchdog_on_alarm };

	snprintf(watchdog_who, sizeof(watchdog_who), "membw: rank %d on %s is stuck: ", rank,
		 node);
	sigaction(SIGALRM, &action, NULL);
	watchdog_heed_ends();
}

void watchdog_limit(double seconds, const char *what)
{
	const struct itimerval timer = { .it_value = { .tv_sec = 1 + (time_t)seconds } };

	watchdog_doing = what;
	setitimer(ITIMER_REAL, &timer, NULL);
}

#endif

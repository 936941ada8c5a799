#include "watchdog.h"

#include <signal.h>

static volatile sig_atomic_t watchdog_signal;

static void watchdog_on_signal(int number)
{
	watchdog_signal = number;
}

void watchdog_heed(int number)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_flags = SA_RESTART;
	action.sa_handler = watchdog_on_signal;
	sigaction(number, &action, NULL);
}

int watchdog_signalled(void)
{
	return watchdog_signal;
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
	struct sigaction action;

	snprintf(watchdog_who, sizeof(watchdog_who), "membw: rank %d on %s is stuck: ", rank,
		 node);
	memset(&action, 0, sizeof(action));
	action.sa_handler = watchdog_on_alarm;
	sigaction(SIGALRM, &action, NULL);
	watchdog_heed(SIGTERM);
	watchdog_heed(SIGINT);
}

void watchdog_limit(double seconds, const char *what)
{
	struct itimerval timer;

	watchdog_doing = what;
	memset(&timer, 0, sizeof(timer));
	timer.it_value.tv_sec = 1 + (time_t)seconds;
	setitimer(ITIMER_REAL, &timer, NULL);
}

#endif

#include "watchdog.h"

#include <signal.h>

static volatile sig_atomic_t signalled;

static void on_end(int number)
{
	signalled = number;
}

void watchdog_heed(int number)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_flags = SA_RESTART;
	action.sa_handler = on_end;
	sigaction(number, &action, NULL);
}

int watchdog_signalled(void)
{
	return signalled;
}

#ifdef MEMBW_MPI

#include "../error.h"

#include <sys/time.h>
#include <unistd.h>

static const char *volatile doing = "";
static char who[160];

/* Async-signal-safe: write and _exit alone; what write returns is of no use any more. */
static void say(const char *text)
{
	if (write(STDERR_FILENO, text, strlen(text)) < 0)
		_exit(EXIT_INVALID);
}

static void on_alarm(int number)
{
	(void)number;
	say(who);
	say(doing);
	say("\nhint: look at this node, or give more '--timeout'\n");
	_exit(EXIT_INVALID);
}

void watchdog_start(int rank, const char *node)
{
	struct sigaction action;

	snprintf(who, sizeof(who), "membw: rank %d on %s is stuck: ", rank, node);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
	watchdog_heed(SIGTERM);
	watchdog_heed(SIGINT);
}

void watchdog_limit(double seconds, const char *what)
{
	struct itimerval timer;

	doing = what;
	memset(&timer, 0, sizeof(timer));
	timer.it_value.tv_sec = 1 + (time_t)seconds;
	setitimer(ITIMER_REAL, &timer, NULL);
}

#endif

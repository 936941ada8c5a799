#include "../config.h"

#include "watchdog.h"

#ifdef MEMBW_MPI

#include "../clock.h"
#include "../error.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double MAIN_MAY_TAKE = 0.2;

static sem_t wake;
static volatile sig_atomic_t signalled;
static volatile int noticed;
static pthread_mutex_t saving = PTHREAD_MUTEX_INITIALIZER;
static volatile double since, ends;
static const char *volatile doing;
static void (*saver)(void);

/* sem_post is the one call here that a signal handler may make. */
static void on_signal(int number)
{
	const int before = errno;

	if (!signalled)
		signalled = number;
	sem_post(&wake);
	errno = before;
}

static void sleep_till_woken(long nanoseconds)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += nanoseconds;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	sem_timedwait(&wake, &t);
}

static void save_for_main(void)
{
	while (!noticed && clock_now() - since < MAIN_MAY_TAKE)
		usleep(5000);
	pthread_mutex_lock(&saving);
	if (!noticed)
		saver();
	pthread_mutex_unlock(&saving);
}

static void end_if_late(void)
{
	char line[256];
	const double limit = ends;

	if (!(limit > 0) || clock_now() < limit)
		return;
	snprintf(line, sizeof(line), "membw: gave up waiting: %s\nhint: give more '--timeout'\n",
		 doing);
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		_exit(EXIT_INVALID);
	_exit(EXIT_INVALID);
}

static void *watch(void *unused)
{
	int saved = 0;

	for (;;) {
		sleep_till_woken(250000000);
		if (signalled && !saved) {
			since = clock_now();
			save_for_main();
			saved = 1;
		}
		end_if_late();
	}
	return unused;
}

void guard_start(void (*save)(void))
{
	struct sigaction action;
	pthread_t thread;

	saver = save;
	sem_init(&wake, 0, 0);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	if (pthread_create(&thread, NULL, watch, NULL) != 0)
		die("no 'thread' is to be had", "free some of them, or raise 'ulimit -u'");
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

int guard_signalled(void)
{
	return signalled;
}

double guard_since_signal(void)
{
	return signalled && since > 0 ? clock_now() - since : 0;
}

void guard_noticed(void)
{
	pthread_mutex_lock(&saving);
	noticed = 1;
	pthread_mutex_unlock(&saving);
}

void guard_limit(double seconds, const char *during)
{
	ends = 0;
	doing = during;
	ends = seconds > 0 ? clock_now() + seconds : 0;
}

#else

void guard_start(void (*save)(void))
{
	(void)save;
}

int guard_signalled(void)
{
	return 0;
}

double guard_since_signal(void)
{
	return 0;
}

void guard_noticed(void) {}

void guard_limit(double seconds, const char *during)
{
	(void)seconds;
	(void)during;
}

#endif

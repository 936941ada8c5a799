/*
 * watchdog: no rank of an MPI job stays for ever, and a signal to end is heard, also by a
 * process that is alone.
 *
 * A timer ends a rank that is stuck where nothing can be tested, in a kernel or in a call of the
 * MPI library, and says which rank it was.  Launchers send SIGTERM when another rank died or the
 * time is up, and kill soon after (Open MPI within a second); batch systems send SIGUSR1, SIGUSR2,
 * SIGXCPU or SIGHUP before a limit.  It is noted here, and whoever waits or repeats looks for it.
 */
#pragma once

#include "../config.h"

#ifdef MEMBW_MPI
LOCAL void watchdog_start(int rank, const char *node);

/* From now on the rank may take so many seconds for this, then it is ended with status 1. */
LOCAL void watchdog_limit(double seconds, const char *doing);
#endif

/* From now on these ask to stop, a second SIGINT ends the process at once; one that is ignored
 * already, as SIGHUP by nohup, does not. */
LOCAL void watchdog_heed_ends(void);

/* "SIGTERM (signal 15)" of the one that asked to stop; NULL: none did. */
LOCAL const char *watchdog_ended_by(void);

/* From now on this signal, too, asks to stop. */
LOCAL void watchdog_heed(int number);

/* The number of the signal that ended the run, 0: none. */
LOCAL int watchdog_signalled(void);

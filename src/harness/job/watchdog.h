/*
 * guard: a thread that sees to it that no rank of an MPI job stays for ever.
 *
 * Launchers send SIGTERM when another rank died or the time is up, and kill
 * soon after (Open MPI within a second).  The main thread looks for the signal
 * wherever it waits; if it does not come round in a fifth of a second, because
 * a kernel is running, the guard saves what was measured until then.
 * The guard makes no MPI calls.  Without -DMEMBW_MPI there is none.
 */
#ifndef MEMBW_GUARD_H
#define MEMBW_GUARD_H

#include "../config.h"

/* Starts it; SAVE keeps what there is, called from the guard's thread. */
void guard_start(void (*save)(void));

/* The signal that asked us to stop, 0 for none; and seconds since then. */
int guard_signalled(void);
double guard_since_signal(void);

/* The main thread has noticed: it saves by itself. */
void guard_noticed(void);

/* From now on the process may last so many seconds more, then it is ended
 * with status 1; 0 for no limit. */
void guard_limit(double seconds, const char *during);

#endif

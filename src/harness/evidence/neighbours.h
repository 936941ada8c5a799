/*
 * neighbours: which processes of the node computed most while we measured.
 *
 * "disturbed" without a name begins a search; `ps` an hour later does not end it.  From
 * /proc/PID/stat: the time of a process and of the children that it has waited for, so that a
 * compilation of a thousand short processes is reported as its make.  Where /proc shows a user his
 * own processes only (hidepid), other processes have no name.
 */
#pragma once

#include "../config.h"

LOCAL void neighbours_start(void);

/* Of a job of several RANKS, other processes of the same name are no neighbours. */
LOCAL void neighbours_stop(int ranks);

/* ", busiest meanwhile: cc1 (4711) 3.2 s, python3 (815) 1.0 s", of all CPUs; "" where none took
 * a tenth of a second. */
LOCAL const char *neighbours_text(void);

/* Writes "processes" of "busy" in the record. */
LOCAL void neighbours_write(void);

/*
 * fault: what tests plant at compile time; without these macros nothing of it is there.
 *
 *   MEMBW_SYS_ROOT="FOLDER"    a recorded machine's /sys (and files of /proc) in that folder
 *   MEMBW_CPU_WIDTH=BITS       a CPU that has no wider registers
 *   MEMBW_PLANT_MEMORY=BYTES   so much memory is available
 *   MEMBW_PLANT_LLC=BYTES      what sysconf says of the caches
 *   MEMBW_PLANT_SLOW=N         what is timed takes N times as long
 *   MEMBW_PLANT_STUCK=I        what is timed in repetition I never ends
 *   MEMBW_PLANT_FAULT=A,I,BIT  flips that bit of element I of array A before the validation
 *   MEMBW_PLANT_PAYLOAD=W,BIT  flips that bit of word W of one message of a ping-pong
 *   MEMBW_PLANT_SKIP           one turn of a ping-pong counts twice
 *   MEMBW_PLANT_LINKS={A,B,US},...  each round trip of ranks A and B takes US longer; B -1: of A
 *                              and any other
 *   MEMBW_PLANT_WAIT=S         the other end of a named pipe is waited for so many seconds
 *   MEMBW_PLANT_RANK=R         the faults above are on rank R alone
 *
 * Nothing here is called between two readings of the clock that make a figure, but for the
 * messages of a ping-pong, which are made there.
 */
#pragma once

#include "config.h"

/* What to add (by exclusive or) to word W of the message of a turn, and to the turn itself. */
#ifdef MEMBW_PLANT_PAYLOAD
#define FAULT_PAYLOAD(turn, w) fault_payload(turn, w)
LOCAL unsigned long long fault_payload(unsigned long long turn, int w);
#else
#define FAULT_PAYLOAD(turn, w) 0
#endif
#ifdef MEMBW_PLANT_SKIP
#define FAULT_SKIP(turn) ((turn) == 100 ? 2 : 0)
#else
#define FAULT_SKIP(turn) 0
#endif
#ifdef MEMBW_PLANT_LINKS
#define FAULT_LINK(one, other) fault_link(one, other)
LOCAL void fault_link(int one, int other);
#else
#define FAULT_LINK(one, other) ((void)(other))
#endif

/* Which rank this process is; 0 until it is said. */
LOCAL void fault_rank(int rank);

/* Whether faults are to be planted in this process. */
LOCAL int fault_is_here(void);

/* The path to read in place of a file of /sys or /proc. */
enum { FAULT_PATH_MAX = 16384 };
LOCAL const char *fault_path(const char *path, char room[FAULT_PATH_MAX]);

/* Register width in bits, at most what was planted. */
LOCAL int fault_cpu_width(int bits);

/* Whether the CPU of this machine is not that of the recorded one. */
LOCAL int fault_hides_cpuid(void);

/* Bytes of cache by sysconf, or what was planted. */
LOCAL size_t fault_llc(size_t bytes);

/* Bytes of memory, or what was planted. */
LOCAL size_t fault_memory(size_t bytes);

/* What was timed took SECONDS in repetition I: what it shall have taken, after that time. */
LOCAL double fault_time(double seconds, int i);

/* Flips the planted bit in one of the arrays, of elements of SIZE bytes. */
LOCAL void fault_flip(void *const *arrays, size_t size);

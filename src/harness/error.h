/*
 * error: one line that says what is wrong, one that says the way out; memory and streams without
 * which there is none.
 */
#pragma once

#include "config.h"

/* measured and valid; measured, but invalid; a usage error */
enum { EXIT_VALID = 0, EXIT_INVALID = 1, EXIT_USAGE = 2 };

/* Prints "membw: FACT" and "hint: HINT" on stderr and ends with EXIT_USAGE. */
LOCAL void die(const char *fact, const char *hint, ...) __attribute__((noreturn))
PRINTF_LIKE(1, 3);

/* Ends the program; EXIT_INVALID in place of EXIT_VALID where stdout took not all, on a full disk.
 */
LOCAL void leave(int status) __attribute__((noreturn));

/* For a program of several processes, which set this before anything can fail: who prints the
 * two lines (it may return: then this process does), and how to end. */
LOCAL void error_hooks(void (*refuse)(const char *fact, const char *hint),
		       void (*end)(int status));

/* Memory that is zero, for COUNT times SIZE bytes; dies of "no memory for COUNT WHAT", with the
 * hint. */
LOCAL void *room_for(size_t count, size_t size, const char *what, const char *hint);

/* A stream that the shell closed leaves its number to the next file that is opened: the table
 * must not end up in the record.  Before any file is opened. */
LOCAL void streams_fill_closed(void);

/*
 * error: one line that says what is wrong, one that says the way out.
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

/*
 * error: one line that says what is wrong, one that says the way out.
 *
 * Exit statuses of the program: measured and valid, measured but not to be
 * believed, asked wrongly.
 */
#ifndef MEMBW_ERROR_H
#define MEMBW_ERROR_H

#include "config.h"

enum { EXIT_VALID = 0, EXIT_INVALID = 1, EXIT_ASKED_WRONGLY = 2 };

/* Prints "membw: FACT" and "hint: HINT" on stderr and ends with status 2; in
 * an MPI job rank 0 prints it, and every rank ends (agree.h). */
void ask_again(const char *hint, const char *fact, ...) __attribute__((noreturn))
PRINTF_LIKE(2, 3);

#endif

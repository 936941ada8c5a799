/*
 * sysfile: one line or one number out of a file of /sys or /proc.
 */
#pragma once

#include "config.h"

enum { SYSLINE_MAX = 16384 };

/* To read; NULL where it cannot be. */
LOCAL FILE *sysfile_open(const char *path);

/* The first line of a file, without its newline; 0 where there is none. */
LOCAL int sysfile_line(char line[SYSLINE_MAX], const char *format, ...) PRINTF_LIKE(2, 3);

/* What follows "KEY:" or "KEY " on the first line that begins so; 0 if none. */
LOCAL int sysfile_field(char value[SYSLINE_MAX], const char *path, const char *key);

/* The first bytes of a file of /sys, as many as fit; 0 where it cannot be read. */
LOCAL size_t sysfile_bytes(unsigned char *bytes, size_t most, const char *path);

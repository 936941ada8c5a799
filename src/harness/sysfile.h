/*
 * sysfile: one line or one number out of a file of /sys or /proc.
 *
 * What could not be read is not what is not there: whoever may not open another file, has no
 * memory for it, or may not read where CPUs and memory lie, would see a machine without NUMA
 * domains.  Such a program ends.
 */
#pragma once

#include "config.h"

#include <dirent.h>

enum { SYSLINE_MAX = 16384 };

/* To read; NULL (-1) where it is not there or may not be read. */
LOCAL FILE *sysfile_open(const char *path);
LOCAL DIR *sysfile_folder(const char *path);
LOCAL int sysfile_descriptor(const char *path);

/* Each thread keeps a file open, and the usual soft limit is 1024. */
LOCAL void sysfile_raise_limit(void);

/* Whether a file of this number leaves enough of them for all else. */
LOCAL int sysfile_may_keep(int file);

/* The next line; 0 at the end, where it is closed, and of NULL. */
LOCAL int sysfile_next(FILE *file, char *line, size_t size);

/* The first line of a file, without its newline; 0 where there is none. */
LOCAL int sysfile_line(char line[SYSLINE_MAX], const char *format, ...) PRINTF_LIKE(2, 3);

/* What follows "KEY:" or "KEY " on the first line that begins so; 0 if none. */
LOCAL int sysfile_field(char value[SYSLINE_MAX], const char *path, const char *key);

/* The number there, and bytes of kB; 0 if none. */
LOCAL size_t sysfile_number(const char *path, const char *key);
LOCAL size_t sysfile_kib(const char *path, const char *key);

/* The first bytes of a file, as many as fit; 0 where it cannot be read. */
LOCAL size_t sysfile_bytes(void *bytes, size_t most, const char *path);

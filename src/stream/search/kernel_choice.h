/*
 * kernel_choice: which kernels are measured: Standard, or a tuned variant each.
 *
 * A choice saved is a file of JSON, {"schema": "membw-kernels-1", "kernels": {"copy":
 * "nt-256-u4-t0x1024-s1", ..}}, so that all nodes run the same.
 */
#pragma once

#include "../tuned/variants.h"

struct kernel_choice {
	int tuned;                  /* 0: the Standard kernels */
	struct variant of[KERNELS]; /* Standard where nothing compiled is named */
	const char *from;           /* "name", "file" or "search" */
};

/* What --kernels says: standard, a variant's name or a file; dies if it names none. */
void choice_read(struct kernel_choice *choice, const char *kernels);

/* Opens the file that choice_save writes, so that it fails before anything is
 * measured; dies if it cannot.  NULL: none; of several ranks rank 0 alone has one. */
void choice_open(const char *path);

/* Writes the file, if one was opened; dies if it cannot. */
void choice_save(const struct kernel_choice *choice);

/* Runs a kernel, the one that was chosen. */
void choice_run(const struct kernel_choice *choice, int kernel, const struct arrays *arrays);

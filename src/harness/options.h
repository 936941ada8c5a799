/*
 * options: what a program says of itself, one table row for each option; help and errors
 * follow from it.
 */
#pragma once

#include "verdict.h"

/* The numbers of a list with commas: afterwards rising, each once. */
enum { NUMBERS_MAX = 64 };
struct numbers {
	int count; /* 0: nothing was requested */
	size_t of[NUMBERS_MAX];
};

/* A table ends with a row of zeros.  A row without a name is a heading: its help alone is
 * printed.  Behind the first four fields a row says where its value goes:
 *	{ 'n', "size", "N", "m = n", .count = &requested.n, .least = 8, .most = 1000000 },
 */
struct option_row {
	char letter;          /* 0: none */
	const char *name;     /* "array-size" */
	const char *argument; /* "N"; "[N]": may be left out; NULL: takes none */
	const char *help;     /* its lines, with \n between them */
	int *flag;            /* becomes 1 */
	const char **text;    /* as it was given */
	int *count;           /* a whole number, 100 or 1e2, from LEAST to MOST */
	struct numbers *list; /* digits and commas, each from LEAST to MOST; HINT */
	double *number;       /* above 0, up to MOST; HINT says what to give */
	int *word;            /* the place among WORDS, of which there are MOST */
	size_t least, most;
	const char *hint;
	const char *const *words;
	/* What else is to be done; OPTION is what messages call it, "-n" or "--json"; TEXT is NULL
	 * where none was given */
	void (*set)(const char *option, const char *text);
};

/* What a program says of itself. */
struct program {
	const char *name;
	const char *about;                /* lines, what --help says first */
	const struct option_row *options; /* its table */
	const struct reason *reasons;     /* its own, then a row of zeros; from REASONS */
	const char *peak_unit;            /* "GB/s": it has --peak; NULL: it has not */
	void (*write)(const void *data);  /* its part of the record, by json_text() ... */
	int has_table;                    /* it printed its figures itself */
	const char *headline; /* the metric that stands for a run: the last whose name matches
				 (as of files: "*_latency"); where none does, the first */
	int pins_itself;      /* each thread, more than once, and judges that itself */
	const struct option_row *more; /* a table behind the common options; NULL: none */
};

/* Reads the command line by the tables of the program and these of its own: --json, --allow,
 * --peak (where the program has a peak), --help, --version.  Dies of what is wrong. */
LOCAL void options_read(const struct program *program, int argc, char **argv);
LOCAL const char *const *options_words(void); /* of the command line; NULL behind the last */

LOCAL const char *options_json(void); /* file of the record, NULL: none */
LOCAL double options_peak(void);      /* 0: not given */

/* For setters.  Each dies of a value that it cannot take. */

/* A whole number, 100000000, 1e8 or 100M (k, M, G: powers of 1000), from LEAST to MOST. */
LOCAL size_t option_count(const char *option, const char *text, size_t least, size_t most);

/* A number above 0, up to MOST; the hint says what to give. */
LOCAL double option_number(const char *option, const char *text, double most, const char *hint);

/* The place of TEXT among COUNT words. */
LOCAL int option_word(const char *option, const char *text, const char *const *words, int count);

/* Each name of a list with commas, with its length: TAKE returns 0 for one that it does not
 * know. */
LOCAL void option_list(const char *option, const char *names,
		       int (*take)(const char *name, size_t length), const char *hint);

/* Without a request: 1, 2, 4, ... and MOST. */
LOCAL void numbers_double(struct numbers *numbers, int most);

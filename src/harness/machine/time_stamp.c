#include "../config.h"

#include "time_stamp.h"

#include "../sysfile.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__) && !defined(__MIC__)
static int has_word(const char *words, const char *word)
{
	const size_t length = strlen(word);
	const char *at = words;

	while ((at = strstr(at, word)) != NULL) {
		if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
			return 1;
		at += length;
	}
	return 0;
}

int time_stamp_invariant(void)
{
	char flags[SYSLINE_MAX];

	return sysfile_field(flags, "/proc/cpuinfo", "flags") && has_word(flags, "constant_tsc") &&
	       has_word(flags, "nonstop_tsc");
}
#else
int time_stamp_invariant(void)
{
	return 0;
}
#endif

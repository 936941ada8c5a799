#include "time_stamp.h"

#include "../sysfile.h"

#if defined(__x86_64__) && !defined(__MIC__)
int time_stamp_invariant(void)
{
	char flags[SYSLINE_MAX], words[SYSLINE_MAX + 2];

	sysfile_field(flags, "/proc/cpuinfo", "flags");
	snprintf(words, sizeof(words), " %s ", flags);
	return strstr(words, " constant_tsc ") && strstr(words, " nonstop_tsc ");
}
#else
int time_stamp_invariant(void)
{
	return 0;
}
#endif

#include "signs.h"

#include <stdlib.h>
#include <strings.h>

static const char *signs_variable(const char *name)
{
	const char *const value = getenv(name);

	return value ? value : "";
}

static int signs_is_c(const char *locale)
{
	return !*locale || strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0;
}

static int signs_are_utf8(void)
{
	const char *all = signs_variable("LC_ALL"), *type = signs_variable("LC_CTYPE");
	const char *const lang = signs_variable("LANG");
	const char *name;

	if (!*all && strcmp(type, "C.UTF-8") == 0 && signs_is_c(lang))
		type = "";
	name = *all ? all : *type ? type : lang;
	name = strchr(name, '.');
	return name &&
	       (strncasecmp(name + 1, "utf8", 4) == 0 || strncasecmp(name + 1, "utf-8", 5) == 0);
}

const char *sign(enum sign sign)
{
	static const char *const signs[][3] = { { "+-", ">=", "<=" }, { "±", "≥", "≤" } };

	return signs[signs_are_utf8()][sign];
}

#include "plural.h"

const char *plural(long count)
{
	return count == 1 ? "" : "s";
}

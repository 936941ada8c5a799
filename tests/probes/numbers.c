/* numbers: each argument as a number of three digits, and as seconds. */
#include "../../src/harness/config.h"

#include "../../src/harness/elementary.c"
#include "../../src/harness/plural.c"

int main(int argc, char **argv)
{
	for (; argc > 1; argc--, argv++)
		printf("%s %s, ", number_text(atof(argv[1]), 3), seconds_text(atof(argv[1])));
	return 0;
}

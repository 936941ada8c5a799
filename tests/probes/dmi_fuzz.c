/*
 * dmi_fuzz: damages an SMBIOS table in many ways and has each one read.
 *
 * dmi_fuzz TABLE ROUNDS SEED; built with the sanitizers, which end it at the
 * first byte read outside the table.  Prints how many modules were found.
 */
#include "machine/dmi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state;

static size_t below(size_t limit)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return limit ? (size_t)(state >> 33) % limit : 0;
}

static int read_damaged(const unsigned char *table, size_t length)
{
	static struct modules modules;
	/* as large as the table is, so that the next byte is not ours */
	unsigned char *copy = malloc(length ? length : 1);

	memcpy(copy, table, length);
	dmi_parse(&modules, copy, length);
	free(copy);
	return modules.slots;
}

int main(int argc, char **argv)
{
	static unsigned char table[1 << 16], damaged[1 << 16];
	FILE *file = argc == 4 ? fopen(argv[1], "rb") : NULL;
	const size_t length = file ? fread(table, 1, sizeof(table), file) : 0;
	long rounds = argc == 4 ? atol(argv[2]) : 0, found = 0;

	state = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	for (; rounds > 0; rounds--) {
		size_t flips = below(16), cut = below(4) ? length : below(length + 1);

		memcpy(damaged, table, length);
		while (flips--)
			damaged[below(length)] = (unsigned char)below(256);
		found += read_damaged(damaged, cut);
	}
	printf("%ld\n", found);
	return file ? 0 : 2;
}

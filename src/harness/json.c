#include "json.h"

#include <string.h>

static FILE *out;
static int first;

void json_begin(FILE *file)
{
	out = file;
	first = 1;
}

static void quoted(const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		const unsigned char letter = (unsigned char)*text;

		if (letter == '"' || letter == '\\')
			putc('\\', out);
		if (letter < ' ')
			fprintf(out, "\\u%04x", letter);
		else
			putc(letter < 0x7f ? letter : '?', out);
	}
	putc('"', out);
}

static void key_of(const char *key)
{
	if (!first)
		fputs(", ", out);
	first = 0;
	if (key) {
		quoted(key);
		fputs(": ", out);
	}
}

void json_open(const char *key, char bracket)
{
	key_of(key);
	putc(bracket, out);
	first = 1;
}

void json_close(char bracket)
{
	putc(bracket, out);
	first = 0;
}

void json_text(const char *key, const char *value)
{
	key_of(key);
	if (value && *value)
		quoted(value);
	else
		fputs("null", out);
}

/* By its bits: -ffast-math takes every comparison to say yes. */
static int is_finite(double value)
{
	const unsigned long long exponent = 0x7ffULL << 52;
	unsigned long long bits;

	memcpy(&bits, &value, sizeof(bits));
	return (bits & exponent) != exponent;
}

void json_number(const char *key, double value)
{
	key_of(key);
	if (is_finite(value))
		fprintf(out, "%.17g", value);
	else
		fputs("null", out);
}

void json_count(const char *key, unsigned long long value)
{
	key_of(key);
	fprintf(out, "%llu", value);
}

void json_hex(const char *key, unsigned long long value)
{
	key_of(key);
	fprintf(out, "\"0x%llx\"", value);
}

void json_truth(const char *key, int value)
{
	key_of(key);
	fputs(value ? "true" : "false", out);
}

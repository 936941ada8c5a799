#include "json.h"

#include "elementary.h"

static FILE *json_out;
static int json_first;

void json_begin(FILE *file)
{
	json_out = file;
	json_first = 1;
}

static void json_quoted(const char *text)
{
	putc('"', json_out);
	for (; *text; text++) {
		const unsigned char letter = (unsigned char)*text;

		if (letter == '"' || letter == '\\')
			putc('\\', json_out);
		if (letter < ' ')
			fprintf(json_out, "\\u%04x", letter);
		else
			putc(letter < 0x7f ? letter : '?', json_out);
	}
	putc('"', json_out);
}

static void json_key(const char *key)
{
	if (!json_first)
		fputs(", ", json_out);
	json_first = 0;
	if (key) {
		json_quoted(key);
		fputs(": ", json_out);
	}
}

void json_open(const char *key, char bracket)
{
	json_key(key);
	putc(bracket, json_out);
	json_first = 1;
}

void json_close(char bracket)
{
	putc(bracket, json_out);
	json_first = 0;
}

void json_text(const char *key, const char *value)
{
	json_key(key);
	if (value && *value)
		json_quoted(value);
	else
		fputs("null", json_out);
}

void json_number(const char *key, double value)
{
	json_key(key);
	if (is_number(value))
		fprintf(json_out, "%.17g", value);
	else
		fputs("null", json_out);
}

void json_positive(const char *key, double value)
{
	if (is_positive(value))
		json_number(key, value);
	else
		json_text(key, NULL);
}

void json_count(const char *key, unsigned long long value)
{
	json_key(key);
	fprintf(json_out, "%llu", value);
}

void json_index(const char *key, int value)
{
	if (value < 0)
		json_text(key, NULL);
	else
		json_count(key, (unsigned long long)value);
}

void json_hex(const char *key, unsigned long long value)
{
	json_key(key);
	fprintf(json_out, "\"0x%llx\"", value);
}

void json_truth(const char *key, int value)
{
	json_key(key);
	fputs(value ? "true" : "false", json_out);
}

void json_numbers(const char *key, const double *values, int count)
{
	int i;

	json_open(key, '[');
	for (i = 0; i < count; i++)
		json_number(NULL, values[i]);
	json_close(']');
}

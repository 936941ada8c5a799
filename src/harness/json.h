/*
 * json: writes one JSON object on one line; commas look after themselves.
 *
 * A NULL key is for the members of an array.
 */
#pragma once

#include "config.h"

void json_begin(FILE *file);
void json_open(const char *key, char bracket);
void json_close(char bracket);
void json_text(const char *key, const char *value); /* NULL and "" write null */
void json_number(const char *key, double value);    /* null if not finite */
void json_positive(const char *key, double value);  /* null if not above 0 */
void json_count(const char *key, unsigned long long value);
void json_hex(const char *key, unsigned long long value);
void json_truth(const char *key, int value);
void json_numbers(const char *key, const double *values, int count); /* an array */

/*
 * json: writes one JSON object on one line; commas look after themselves.
 *
 * A NULL key is for the members of an array.
 */
#pragma once

#include "config.h"

LOCAL void json_begin(FILE *file);
LOCAL void json_open(const char *key, char bracket);
LOCAL void json_close(char bracket);
LOCAL void json_text(const char *key, const char *value); /* NULL and "" write null */
LOCAL void json_number(const char *key, double value);    /* null if not finite */
LOCAL void json_positive(const char *key, double value);  /* null if not above 0 */
LOCAL void json_count(const char *key, unsigned long long value);
LOCAL void json_index(const char *key, int value); /* null below 0 */
LOCAL void json_hex(const char *key, unsigned long long value);
LOCAL void json_truth(const char *key, int value);
LOCAL void json_numbers(const char *key, const double *values, int count); /* an array */

/*
 * sha256: the checksum of FIPS 180-4, as `sha256sum` prints it.
 */
#pragma once

#include "../config.h"

enum { SHA256_BLOCK = 64, SHA256_TEXT = 65 };

struct sha256 {
	unsigned state[8];
	unsigned char block[SHA256_BLOCK];
	unsigned long long bytes;
};

LOCAL void sha256_begin(struct sha256 *sum);
LOCAL void sha256_add(struct sha256 *sum, const void *data, size_t size);
LOCAL void sha256_end(struct sha256 *sum, char text[SHA256_TEXT]); /* in hex */

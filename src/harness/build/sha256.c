#include "sha256.h"

static const unsigned sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static unsigned sha256_turn(unsigned word, int bits)
{
	return word >> bits | word << (32 - bits);
}

/* The 64 words that a block becomes. */
static void sha256_schedule(unsigned w[64], const unsigned char *block)
{
	int i;

	for (i = 0; i < 16; i++)
		w[i] = (unsigned)block[4 * i] << 24 | (unsigned)block[4 * i + 1] << 16 |
		       (unsigned)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (i = 16; i < 64; i++) {
		const unsigned a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (sha256_turn(a, 7) ^ sha256_turn(a, 18) ^ a >> 3) +
		       (sha256_turn(b, 17) ^ sha256_turn(b, 19) ^ b >> 10);
	}
}

static void sha256_block(unsigned state[8], const unsigned char *block)
{
	unsigned w[64], s[8];
	int i;

	sha256_schedule(w, block);
	memcpy(s, state, sizeof(s));
	for (i = 0; i < 64; i++) {
		const unsigned a = s[0], e = s[4];
		const unsigned one =
			s[7] + (sha256_turn(e, 6) ^ sha256_turn(e, 11) ^ sha256_turn(e, 25)) +
			((e & s[5]) ^ (~e & s[6])) + sha256_k[i] + w[i];
		const unsigned two =
			(sha256_turn(a, 2) ^ sha256_turn(a, 13) ^ sha256_turn(a, 22)) +
			((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256_begin(struct sha256 *sum)
{
	static const struct sha256 start = { { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 },
					     { 0 },
					     0 };

	*sum = start;
}

void sha256_add(struct sha256 *sum, const void *data, size_t size)
{
	const unsigned char *from = data;

	while (size) {
		const size_t used = sum->bytes % SHA256_BLOCK, room = SHA256_BLOCK - used;
		const size_t now = size < room ? size : room;

		memcpy(sum->block + used, from, now);
		sum->bytes += now;
		from += now;
		size -= now;
		if (now == room)
			sha256_block(sum->state, sum->block);
	}
}

void sha256_end(struct sha256 *sum, char text[SHA256_TEXT])
{
	const unsigned long long bits = sum->bytes * 8;
	unsigned char length[8];
	int i;

	for (i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_add(sum, "\x80", 1);
	while (sum->bytes % SHA256_BLOCK != SHA256_BLOCK - sizeof(length))
		sha256_add(sum, "", 1);
	sha256_add(sum, length, sizeof(length));
	for (i = 0; i < 8; i++)
		snprintf(text + 8 * i, 9, "%08x", sum->state[i]);
}

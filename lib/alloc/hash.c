// SPDX-License-Identifier: MIT
/*
 * Half MD4 of a file name: where a directory in the root goes.
 *
 * Stands for ext4fs_dirhash with the half MD4 version, signed characters.  The
 * hash is three rounds of eight steps of MD4 over blocks of 32 bytes of the name.
 */
#include "internal.h"

static u32 rol(u32 v, u32 n)
{
	return v << n | v >> (32 - n);
}

static u32 f(u32 x, u32 y, u32 z)
{
	return (x & y) | (~x & z);
}

static u32 g(u32 x, u32 y, u32 z)
{
	return (x & y) | (x & z) | (y & z);
}

static u32 h(u32 x, u32 y, u32 z)
{
	return x ^ y ^ z;
}

static void transform(u32 state[4], const u32 in[8])
{
	static const u8 order[3][8] = {
		{ 0, 1, 2, 3, 4, 5, 6, 7 },
		{ 1, 3, 5, 7, 0, 2, 4, 6 },
		{ 3, 7, 2, 6, 1, 5, 0, 4 },
	};
	static const u8 shift[3][4] = { { 3, 7, 11, 19 }, { 3, 5, 9, 13 }, { 3, 9, 11, 15 } };
	static const u32 add[3] = { 0, 0x5a827999, 0x6ed9eba1 }; /* MD4: roots of 2 and 3 */
	u32 v[4], round, i;

	memcpy(v, state, sizeof(v));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < 8; i++) {
			/* the registers change places with each step: a d c b */
			u32 *t = &v[(4 - i % 4) % 4];
			u32 x = v[(5 - i % 4) % 4], y = v[(6 - i % 4) % 4], z = v[(7 - i % 4) % 4];
			u32 mix = round == 0 ? f(x, y, z) : round == 1 ? g(x, y, z) : h(x, y, z);

			*t = rol(*t + mix + in[order[round][i]] + add[round], shift[round][i % 4]);
		}
	}
	for (i = 0; i < 4; i++)
		state[i] += v[i];
}

/* 32 bytes of the name as 8 words; what is missing is filled with the length. */
static void words_of(const char *name, size_t len, u32 out[8])
{
	u32 pad = (u32)len | (u32)len << 8, val, i, n = 0;

	pad |= pad << 16;
	val = pad;
	len = min(len, (size_t)32);
	for (i = 0; i < len; i++) {
		val = (u32)(signed char)name[i] + (val << 8);
		if (i % 4 == 3) {
			out[n++] = val;
			val = pad;
		}
	}
	if (n < 8)
		out[n++] = val;
	while (n < 8)
		out[n++] = pad;
}

u32 ffs_half_md4(const u8 seed[16], const char *name, size_t len)
{
	u32 state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	u32 words[4], in[8], i;

	for (i = 0; i < 4; i++)
		words[i] = (u32)seed[4 * i] | (u32)seed[4 * i + 1] << 8 |
			   (u32)seed[4 * i + 2] << 16 | (u32)seed[4 * i + 3] << 24;
	if (words[0] | words[1] | words[2] | words[3])
		memcpy(state, words, sizeof(state));
	for (i = 0; i < len; i += 32) {
		words_of(name + i, len - i, in);
		transform(state, in);
	}
	state[1] &= ~1u;
	/* the largest value is kept for the end of a directory */
	return state[1] == 0xfffffffe ? 0xfffffffc : state[1];
}

#include "dmi.h"

#include "../sysfile.h"

#include <ctype.h>

enum { FIRMWARE = 0, MEMORY_DEVICE = 17, END_OF_TABLE = 127, HEADER = 4, TABLE_MAX = 1 << 20 };

/* One structure: its fields, then its strings up to two zero bytes. */
struct structure {
	const unsigned char *at;
	size_t fields;
	const char *strings;
	size_t strings_length; /* up to the end of the table at most */
};

/* Little-endian; 0 where the structure is too short to have the field. */
static unsigned long dmi_field(const struct structure *s, size_t offset, size_t bytes)
{
	unsigned long value = 0;
	size_t i;

	if (offset + bytes > s->fields)
		return 0;
	for (i = bytes; i > 0; i--)
		value = value << 8 | s->at[offset + i - 1];
	return value;
}

/* Strings are numbered from 1; 0 is none. */
static void dmi_text(char text[LOCATOR_MAX], const struct structure *s, size_t offset)
{
	unsigned long number = dmi_field(s, offset, 1);
	const char *string = s->strings, *end = s->strings + s->strings_length;
	size_t length = 0;

	text[0] = '\0';
	if (!number)
		return;
	while (--number && string < end)
		string += strnlen(string, (size_t)(end - string)) + 1;
	if (string >= end)
		return;
	length = strnlen(string, (size_t)(end - string));
	length = length < LOCATOR_MAX ? length : LOCATOR_MAX - 1;
	memcpy(text, string, length);
	text[length] = '\0';
	while (length && text[length - 1] == ' ')
		text[--length] = '\0';
}

static unsigned long dmi_size_mib(const struct structure *s)
{
	const unsigned long size = dmi_field(s, 0x0c, 2);

	if (size == 0xffff)
		return 0;
	if (size == 0x7fff)
		return dmi_field(s, 0x1c, 4) & 0x7fffffff;
	return size & 0x8000 ? (size & 0x7fff) / 1024 : size;
}

/* MT/s; 0xffff says that the figure is in a field of its own. */
static unsigned long dmi_speed(const struct structure *s, size_t offset, size_t extended)
{
	const unsigned long mts = dmi_field(s, offset, 2);

	return mts == 0xffff ? dmi_field(s, extended, 4) & 0x7fffffff : mts;
}

/* Table 78 of DSP0134: DDR, DDR2, DDR3, DDR4, DDR5. */
static int dmi_is_ddr(unsigned long type)
{
	return type == 0x12 || type == 0x13 || type == 0x18 || type == 0x1a || type == 0x22;
}

static void dmi_add(struct modules *modules, const struct structure *s)
{
	struct module *m = &modules->of[modules->slots];

	if (modules->slots == MODULES_MAX)
		return;
	modules->slots++;
	dmi_text(m->locator, s, 0x10);
	dmi_text(m->bank, s, 0x11);
	m->is_plugged = dmi_field(s, 0x0c, 2) != 0;
	m->size_mib = dmi_size_mib(s);
	m->rated_mts = dmi_speed(s, 0x15, 0x54);
	m->configured_mts = dmi_speed(s, 0x20, 0x58);
	m->width_bits = (unsigned)dmi_field(s, 0x08, 2);
	if (m->width_bits == 0xffff)
		m->width_bits = 0;
	m->is_ddr = dmi_is_ddr(dmi_field(s, 0x12, 1));
}

/* The length of a structure with its strings; 0 where the table ends before. */
static size_t dmi_extent(struct structure *s, const unsigned char *at, size_t left)
{
	size_t end;

	if (left < HEADER || at[1] < HEADER || at[1] > left)
		return 0;
	s->at = at;
	s->fields = at[1];
	s->strings = (const char *)at + s->fields;
	for (end = s->fields; end + 1 < left; end++)
		if (!at[end] && !at[end + 1])
			break;
	s->strings_length = end - s->fields;
	return end + 2 < left ? end + 2 : left;
}

void dmi_parse(struct modules *modules, const unsigned char *table, size_t length)
{
	struct structure s;
	size_t step;

	memset(modules, 0, sizeof(*modules));
	for (; (step = dmi_extent(&s, table, length)) != 0; table += step, length -= step) {
		if (s.at[0] == END_OF_TABLE)
			break;
		if (s.at[0] == MEMORY_DEVICE)
			dmi_add(modules, &s);
		if (s.at[0] == FIRMWARE && dmi_field(&s, 0x13, 1) & 0x10)
			modules->is_virtual = 1;
	}
}

int dmi_read(struct modules *modules)
{
	unsigned char *table = malloc(TABLE_MAX);
	const size_t length =
		table ? sysfile_bytes(table, TABLE_MAX, "/sys/firmware/dmi/tables/DMI") : 0;

	dmi_parse(modules, table, length);
	free(table);
	return modules->slots > 0;
}

/* The length of "P0 CHANNEL A", up to the channel's own name; 0 where BANK is not so.  What stands
 * before names a socket or a die, or nothing where there is one socket. */
static size_t dmi_channel_text(const char *bank, int sockets)
{
	static const char *const owners[] = { "P",    "CPU",    "PROC", "PROCESSOR",
					      "NODE", "SOCKET", "SKT" };
	const char *const channel = strcasestr(bank, "channel");
	const char *owner = bank, *name;
	size_t letters, i;

	if (!channel)
		return 0;
	name = channel + strlen("channel");
	name += strspn(name, " _-:");
	while (owner < channel && !isalnum((unsigned char)*owner))
		owner++;
	if (!isalnum((unsigned char)*name) || (owner == channel && sockets != 1))
		return 0;
	while (isalnum((unsigned char)*name))
		name++;
	for (letters = 0; isalpha((unsigned char)owner[letters]); letters++)
		continue;
	for (i = 0; i < sizeof(owners) / sizeof(*owners); i++)
		if (owner == channel ||
		    (strlen(owners[i]) == letters && strncasecmp(owner, owners[i], letters) == 0))
			return (size_t)(name - bank);
	return 0;
}

int dmi_channels(const struct modules *modules, int sockets)
{
	int i, other, channels = 0;

	for (i = 0; i < modules->slots; i++) {
		const char *const bank = modules->of[i].bank;
		const size_t length = dmi_channel_text(bank, sockets);

		if (!modules->of[i].is_plugged)
			continue;
		if (!length)
			return 0;
		for (other = 0; other < i; other++)
			if (modules->of[other].is_plugged &&
			    dmi_channel_text(modules->of[other].bank, sockets) == length &&
			    strncasecmp(modules->of[other].bank, bank, length) == 0)
				break;
		channels += other == i;
	}
	return channels;
}

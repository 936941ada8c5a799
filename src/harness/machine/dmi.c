#include "dmi.h"

#include "../sysfile.h"

#include <ctype.h>

enum {
	FIRMWARE = 0,
	MEMORY_ARRAY = 16,
	MEMORY_DEVICE = 17,
	END_OF_TABLE = 127,
	HEADER = 4,
	TABLE_MAX = 1 << 20,
	ARRAYS_MAX = 64,
	PLACE_MAX = 2 * LOCATOR_MAX
};

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
static int dmi_is_ddr_type(unsigned long type)
{
	return type == 0x12 || type == 0x13 || type == 0x18 || type == 0x1a || type == 0x22;
}

/* The handles of arrays of modules that are on no channel of a CPU: structure 16, those of a CXL
 * card (location 0xa4), and those for video, flash or caches (use). */
struct dmi_arrays {
	unsigned long apart[ARRAYS_MAX];
	int count;
};

static void dmi_note_array(struct dmi_arrays *arrays, const struct structure *s)
{
	const unsigned long location = dmi_field(s, 0x04, 1), use = dmi_field(s, 0x05, 1);

	if (arrays->count < ARRAYS_MAX && (location == 0xa4 || use > 3))
		arrays->apart[arrays->count++] = dmi_field(s, 0x02, 2);
}

/* Memory of DDR that is no DRAM behind it (technology: flash, Optane) is none. */
static int dmi_is_ddr(const struct structure *s, const struct dmi_arrays *arrays)
{
	const unsigned long technology = dmi_field(s, 0x28, 1);
	int i;

	for (i = 0; i < arrays->count; i++)
		if (arrays->apart[i] == dmi_field(s, 0x04, 2))
			return 0;
	return dmi_is_ddr_type(dmi_field(s, 0x12, 1)) && (technology < 5 || technology > 7);
}

static void dmi_add(struct modules *modules, const struct structure *s,
		    const struct dmi_arrays *arrays)
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
	m->is_ddr = dmi_is_ddr(s, arrays);
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
	struct dmi_arrays arrays = { .count = 0 };
	struct structure s;
	size_t at, step;
	int pass;

	memset(modules, 0, sizeof(*modules));
	/* the arrays first, wherever they stand */
	for (pass = 0; pass < 2; pass++)
		for (at = 0; (step = dmi_extent(&s, table + at, length - at)) != 0; at += step) {
			if (s.at[0] == END_OF_TABLE)
				break;
			if (!pass && s.at[0] == MEMORY_ARRAY)
				dmi_note_array(&arrays, &s);
			if (pass && s.at[0] == MEMORY_DEVICE)
				dmi_add(modules, &s, &arrays);
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

/* Whether a word names the socket that the number behind it counts; of one socket its controllers
 * need none. */
static int dmi_is_owner(const char *word, size_t letters, int sockets)
{
	static const char *const owners[] = { "P",      "CPU", "PROC", "PROCESSOR", "NODE",
					      "SOCKET", "SKT", "MC",   "IMC",       "CONTROLLER" };
	const size_t count = sizeof(owners) / sizeof(*owners) - (sockets == 1 ? 0 : 3);
	size_t i;

	for (i = 0; i < count; i++)
		if (strlen(owners[i]) == letters && strncasecmp(word, owners[i], letters) == 0)
			return 1;
	return 0;
}

/* Where the first such word stands before END, as in "A1_Node1_Channel0"; of one socket END itself
 * where nothing stands before it; NULL: nowhere. */
static const char *dmi_owner(const char *text, const char *end, int sockets)
{
	const char *word = text;

	while (word < end) {
		size_t letters = 0, between;

		while (isalpha((unsigned char)word[letters]))
			letters++;
		between = strspn(word + letters, " _-:#");
		if (dmi_is_owner(word, letters, sockets) &&
		    isdigit((unsigned char)word[letters + between]))
			return word;
		word += letters ? letters : 1;
	}
	return sockets == 1 && text + strspn(text, " _-:#") >= end ? end : NULL;
}

static void dmi_upper(char *to, const char *from, const char *end)
{
	while (from < end)
		*to++ = (char)toupper((unsigned char)*from++);
	*to = '\0';
}

/* "P0 CHANNEL A": what a text says up to a channel's own name, from the word on that names a
 * socket. */
static int dmi_channel_in(char name[PLACE_MAX], const char *text, int sockets)
{
	const char *const channel = strcasestr(text, "channel");
	const char *from, *end;

	if (!channel)
		return 0;
	end = channel + strlen("channel");
	end += strspn(end, " _-:");
	from = dmi_owner(text, channel, sockets);
	if (!from || !isalnum((unsigned char)*end))
		return 0;
	while (isalnum((unsigned char)*end))
		end++;
	dmi_upper(name, from, end);
	return 1;
}

static int dmi_socket_of(char name[PLACE_MAX], const struct module *m, int sockets)
{
	const char *const texts[] = { m->locator, m->bank };
	int i;

	for (i = 0; i < 2; i++) {
		const char *const text = texts[i], *end;
		const char *const from = dmi_owner(text, text + strlen(text), sockets);

		if (!from)
			continue;
		end = from + strcspn(from, "0123456789");
		dmi_upper(name, from, end + strspn(end, "0123456789"));
		return 1;
	}
	return 0;
}

/* By the bank, by the locator, or the socket by one and the channel by the other. */
static int dmi_channel_of(char name[PLACE_MAX], const struct module *m, int sockets)
{
	char channel[PLACE_MAX];
	size_t length;

	if (dmi_channel_in(name, m->bank, sockets) || dmi_channel_in(name, m->locator, sockets))
		return 1;
	if (!dmi_socket_of(name, m, sockets) ||
	    (!dmi_channel_in(channel, m->bank, 1) && !dmi_channel_in(channel, m->locator, 1)))
		return 0;
	length = strlen(name);
	snprintf(name + length, PLACE_MAX - length, " %s", channel);
	return 1;
}

/* How many names the modules of DDR have; 0 where one of them has none. */
static int dmi_names(const struct modules *modules, int sockets,
		     int (*name_of)(char[PLACE_MAX], const struct module *, int))
{
	static char names[MODULES_MAX][PLACE_MAX];
	int i, other, count = 0;

	for (i = 0; i < modules->slots; i++) {
		if (!modules->of[i].is_plugged || !modules->of[i].is_ddr)
			continue;
		if (!name_of(names[count], &modules->of[i], sockets))
			return 0;
		for (other = 0; strcmp(names[other], names[count]) != 0; other++)
			continue;
		count += other == count;
	}
	return count;
}

int dmi_channels(const struct modules *modules, int sockets)
{
	return dmi_names(modules, sockets, dmi_channel_of);
}

int dmi_sockets(const struct modules *modules)
{
	return dmi_names(modules, 0, dmi_socket_of);
}

#include "channels.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* More than three slots on a channel of DDR are not built. */
enum { SLOTS_A_CHANNEL = 3 };

static const char *skip(const char *at)
{
	return at + strspn(at, " _-");
}

/* The end of "channel X" within a text, NULL where there is none. */
static const char *after_channel(const char *text)
{
	const char *at = strcasestr(text, "channel"), *name;

	if (!at)
		return NULL;
	name = skip(at + strlen("channel"));
	if (isdigit((unsigned char)*name))
		return name + strspn(name, "0123456789");
	return isalpha((unsigned char)*name) && !isalpha((unsigned char)name[1]) ? name + 1 : NULL;
}

/* The end of "DIMM A" where a slot number follows, as in DIMM_A1, DIMM_P0_A1. */
static const char *after_letter(const char *text)
{
	const char *at = strcasestr(text, "dimm");

	if (!at)
		return NULL;
	at = skip(at + strlen("dimm"));
	if (toupper((unsigned char)*at) == 'P' && isdigit((unsigned char)at[1]) && at[2] == '_')
		at += 3;
	return isalpha((unsigned char)*at) && isdigit((unsigned char)at[1]) ? at + 1 : NULL;
}

int channels_name(char name[CHANNEL_NAME_MAX], const struct module *m)
{
	const char *const bank = after_channel(m->bank), *end;

	name[0] = '\0';
	if (bank) {
		/* the socket may stand in the locator alone: "CPU1 DIMM 0" */
		const char *slot = strcasestr(m->locator, "dimm");
		const int before = slot ? (int)(slot - m->locator) : 0;

		snprintf(name, CHANNEL_NAME_MAX, "%.*s%.*s", before, m->locator,
			 (int)(bank - m->bank), m->bank);
		return 1;
	}
	end = after_channel(m->locator);
	if (!end)
		end = after_letter(m->locator);
	if (end)
		snprintf(name, CHANNEL_NAME_MAX, "%.*s", (int)(end - m->locator), m->locator);
	return end != NULL;
}

static int is_same_slot(const struct module *x, const struct module *y)
{
	return strcmp(x->locator, y->locator) == 0 && strcmp(x->bank, y->bank) == 0;
}

/* 1 for the first module of its channel, 0 for another, -1 if it cannot be. */
static int is_first(const struct modules *modules, int module, const char **why)
{
	char name[CHANNEL_NAME_MAX], other[CHANNEL_NAME_MAX];
	int i, before = 0;

	if (!channels_name(name, &modules->of[module])) {
		*why = "the names of the slots do not tell the channels";
		return -1;
	}
	for (i = 0; i < module; i++) {
		if (!modules->of[i].is_plugged)
			continue;
		if (is_same_slot(&modules->of[i], &modules->of[module])) {
			*why = "two modules have the same slot by name";
			return -1;
		}
		channels_name(other, &modules->of[i]);
		before += strcmp(name, other) == 0;
	}
	if (before < SLOTS_A_CHANNEL)
		return before == 0;
	*why = "by their names more than three modules share a channel";
	return -1;
}

int channels_count(const struct modules *modules, const char **why)
{
	int i, count = 0;

	*why = "no module is described";
	for (i = 0; i < modules->slots; i++) {
		const int first = modules->of[i].is_plugged ? is_first(modules, i, why) : 0;

		if (first < 0)
			return 0;
		count += first;
	}
	return count;
}

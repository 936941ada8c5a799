#include "edac.h"

#include "../sysfile.h"

enum { CONTROLLERS_MAX = 64, SLOTS_MAX = 64, CHANNELS_OF_BRANCH = 8 };

/* Where a folder's memory is; -1: it is not said. */
struct edac_place {
	int channel, pair;
};

/* "dimm" or "rank", as the driver knows modules or the ranks on them alone. */
static int edac_file(char line[SYSLINE_MAX], const char *kind, int controller, int slot,
		     const char *file)
{
	return sysfile_line(line, "/sys/devices/system/edac/mc/mc%d/%s%d/%s", controller, kind,
			    slot, file);
}

/* The number behind WORD, up to 63; -1 where there is none. */
static int edac_number(const char *location, const char *word)
{
	const char *at = strstr(location, word);
	const long number = at ? strtol(at + strlen(word), NULL, 10) : -1;

	return number >= 0 && number < 64 ? (int)number : -1;
}

/* "branch 0 channel 1 slot 0", "csrow 2 channel 1"; two chip selects (csrow) are one module. */
static struct edac_place edac_place_of(const char *kind, int controller, int slot)
{
	struct edac_place place = { -1, -1 };
	char line[SYSLINE_MAX];
	int csrow;

	edac_file(line, kind, controller, slot, "dimm_location");
	place.channel = edac_number(line, "channel ");
	if (place.channel >= 0 && edac_number(line, "branch ") > 0)
		place.channel += CHANNELS_OF_BRANCH * edac_number(line, "branch ");
	csrow = strcmp(kind, "rank") == 0 ? edac_number(line, "csrow ") : -1;
	if (place.channel >= 0 && csrow >= 0)
		place.pair = csrow / 2;
	return place;
}

/* 0 where the slot is empty.  The second rank of a module is added to the first. */
static int edac_read_slot(struct modules *modules, struct edac_place of[MODULES_MAX], int first,
			  const char *kind, int controller, int slot)
{
	const struct edac_place place = edac_place_of(kind, controller, slot);
	char line[SYSLINE_MAX];
	struct module *m;
	int at = first;

	if (!edac_file(line, kind, controller, slot, "size") || atoi(line) < 1)
		return 0;
	while (at < modules->slots &&
	       (place.pair < 0 || of[at].channel != place.channel || of[at].pair != place.pair))
		at++;
	if (at == MODULES_MAX)
		return 0;
	m = &modules->of[at];
	m->is_plugged = 1;
	m->size_mib += strtoul(line, NULL, 10);
	of[at] = place;
	if (at < modules->slots)
		return 1;
	modules->slots++;
	edac_file(line, kind, controller, slot, "dimm_label");
	snprintf(m->locator, LOCATOR_MAX, "%.*s", LOCATOR_MAX - 1, line);
	edac_file(line, kind, controller, slot, "dimm_mem_type"); /* "Registered-DDR4" */
	m->is_ddr = strstr(line, "DDR") && !strstr(line, "LPDDR");
	return 1;
}

int edac_read(struct modules *modules)
{
	static struct edac_place of[MODULES_MAX];
	int controller, slot, at, channels = 0;

	memset(modules, 0, sizeof(*modules));
	for (controller = 0; controller < CONTROLLERS_MAX; controller++) {
		const int first = modules->slots;
		unsigned long long seen = 0;

		for (slot = 0; slot < SLOTS_MAX; slot++)
			if (!edac_read_slot(modules, of, first, "dimm", controller, slot))
				edac_read_slot(modules, of, first, "rank", controller, slot);
		for (at = first; at < modules->slots; at++) {
			if (of[at].channel < 0 || of[at].channel > 63)
				return 0;
			channels += !(seen >> of[at].channel & 1);
			seen |= 1ULL << of[at].channel;
		}
	}
	return channels;
}

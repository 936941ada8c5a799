#include "edac.h"

#include "../sysfile.h"

enum { CONTROLLERS_MAX = 64, SLOTS_MAX = 64 };

static const char EDAC_SYSFS[] = "/sys/devices/system/edac/mc/mc%d/dimm%d/%s";

/* "channel 1 slot 0", "csrow 0 channel 1": the channel, -1 where it is not said. */
static int edac_channel_of(int controller, int slot)
{
	char line[SYSLINE_MAX];
	const char *at;

	sysfile_line(line, EDAC_SYSFS, controller, slot, "dimm_location");
	at = strstr(line, "channel ");
	return at ? atoi(at + strlen("channel ")) : -1;
}

/* The channel of the module, -2 where the slot is empty. */
static int edac_read_slot(struct modules *modules, int controller, int slot)
{
	struct module *m = &modules->of[modules->slots];
	char line[SYSLINE_MAX];

	if (!sysfile_line(line, EDAC_SYSFS, controller, slot, "size") || atoi(line) < 1 ||
	    modules->slots == MODULES_MAX)
		return -2;
	memset(m, 0, sizeof(*m));
	m->is_plugged = 1;
	m->size_mib = strtoul(line, NULL, 10);
	sysfile_line(line, EDAC_SYSFS, controller, slot, "dimm_label");
	snprintf(m->locator, LOCATOR_MAX, "%.*s", LOCATOR_MAX - 1, line);
	modules->slots++;
	return edac_channel_of(controller, slot);
}

int edac_read(struct modules *modules)
{
	int controller, slot, channels = 0, are_known = 1;

	memset(modules, 0, sizeof(*modules));
	for (controller = 0; controller < CONTROLLERS_MAX; controller++) {
		unsigned long long seen = 0;
		int channel;

		for (slot = 0; slot < SLOTS_MAX; slot++) {
			channel = edac_read_slot(modules, controller, slot);
			if (channel == -1 || channel > 63)
				are_known = 0;
			else if (channel >= 0)
				seen |= 1ULL << channel;
		}
		for (; seen; seen &= seen - 1)
			channels++;
	}
	return are_known ? channels : 0;
}

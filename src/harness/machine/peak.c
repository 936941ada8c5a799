#include "peak.h"

#include "channels.h"
#include "edac.h"

#include <stdio.h>
#include <string.h>

const char *const peak_sources[] = { "none", "option", "dmi" };

enum { BYTES_A_TRANSFER = 8 };

/* The speed that all plugged modules run at, 0 where it differs or is unknown. */
static unsigned long common_mts(const struct modules *modules, const char **why)
{
	unsigned long mts = 0;
	int i;

	for (i = 0; i < modules->slots; i++) {
		const struct module *m = &modules->of[i];

		if (!m->is_plugged)
			continue;
		if (!m->is_ddr)
			*why = "a module is not of the DDR kind: its width is not known";
		else if (!m->configured_mts)
			*why = "the configured speed of a module is not known";
		else if (mts && mts != m->configured_mts)
			*why = "the modules run at different speeds";
		else {
			mts = m->configured_mts;
			continue;
		}
		return 0;
	}
	return mts;
}

/* By the driver, else by names; 0 and why where neither tells or they differ. */
static int count_channels(const struct modules *modules, int by_driver, const char **how)
{
	const int by_names = channels_count(modules, how);

	if (by_driver && by_names && by_driver != by_names) {
		*how = "EDAC and the names of the slots give different numbers of channels";
		return 0;
	}
	if (by_driver)
		*how = "as EDAC counts them";
	else if (by_names)
		*how = "by the names of their slots";
	return by_driver ? by_driver : by_names;
}

static void derive(struct peak *peak, int by_driver)
{
	const char *how = "", *why = "";
	unsigned long mts;

	peak->channels = count_channels(&peak->modules, by_driver, &how);
	mts = common_mts(&peak->modules, &why);
	if (!peak->channels || !mts) {
		snprintf(peak->note, sizeof(peak->note), "no peak from DMI: %s",
			 peak->channels ? why : how);
		return;
	}
	peak->source = PEAK_DMI;
	peak->gbs = 1e-3 * (double)mts * BYTES_A_TRANSFER * peak->channels;
	snprintf(peak->note, sizeof(peak->note),
		 "%d channels with a module, %s, x %lu MT/s x %d B", peak->channels, how, mts,
		 BYTES_A_TRANSFER);
}

static void derive_nothing(struct peak *peak, const char *why)
{
	snprintf(peak->note, sizeof(peak->note), "no peak from DMI: %s", why);
}

void peak_find(struct peak *peak, double given_gbs)
{
	static struct modules by_driver;
	const int channels = edac_read(&by_driver);

	memset(peak, 0, sizeof(*peak));
	peak->modules_source = "dmi";
	if (!dmi_read(&peak->modules)) {
		derive_nothing(peak,
			       "/sys/firmware/dmi/tables/DMI describes no module, or not root");
		peak->modules = by_driver;
		peak->modules_source = by_driver.slots ? "edac" : "none";
		peak->channels = channels;
	} else if (peak->modules.is_virtual)
		derive_nothing(peak, "a virtual machine, whose modules are made up");
	else
		derive(peak, channels);
	if (given_gbs > 0) {
		peak->gbs = given_gbs;
		peak->source = PEAK_OPTION;
		snprintf(peak->note, sizeof(peak->note), "as given by --peak");
	}
}

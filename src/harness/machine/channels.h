/*
 * channels: which memory channel a module sits in, from the names of its slot.
 *
 * SMBIOS has no field for it.  Board makers write it into the locators, each
 * in a way of his own.  Understood is a name that says "channel" ("P0 CHANNEL
 * A", "P0_Node0_Channel3_Dimm0", "ChannelA-DIMM0") and a letter after "DIMM"
 * that a slot number follows ("P1-DIMMA1", "CPU1_DIMM_B2", "DIMM_P0_C0").
 * Bare names ("A1", "PROC 1 DIMM 3") are not: there the letter is a socket,
 * or the number runs through all slots.
 */
#ifndef MEMBW_CHANNELS_H
#define MEMBW_CHANNELS_H

#include "dmi.h"

enum { CHANNEL_NAME_MAX = 2 * LOCATOR_MAX };

/* The channel's name, with whatever names socket and controller before it;
 * 0 and "" where the slot's names do not say. */
int channels_name(char name[CHANNEL_NAME_MAX], const struct module *module);

/* How many channels have a module; 0 where that cannot be told, and why. */
int channels_count(const struct modules *modules, const char **why);

#endif

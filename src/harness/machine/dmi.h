/*
 * dmi: the memory modules as the firmware describes them.
 *
 * The kernel shows the SMBIOS structures in /sys/firmware/dmi/tables/DMI, to
 * root alone.  Structure 17 describes a slot: DMTF DSP0134, System Management
 * BIOS Reference Specification 3.x, section 7.18.  Firmware is often careless:
 * every length is checked, a structure that does not fit ends the reading.
 */
#pragma once

#include "../config.h"

enum { MODULES_MAX = 512, LOCATOR_MAX = 64 };

struct module {
	char locator[LOCATOR_MAX]; /* "DIMM_A1" */
	char bank[LOCATOR_MAX];    /* "P0 CHANNEL A" */
	unsigned long size_mib;    /* 0: the firmware does not know */
	unsigned long rated_mts;   /* 0: not known */
	unsigned long configured_mts;
	unsigned width_bits; /* with those for error correction; 0: not known */
	int is_ddr;          /* DDR to DDR5 on a CPU's channel: 8 bytes a transfer; not LPDDR, HBM,
				flash or CXL */
	int is_plugged;      /* the slot is not empty */
};

struct modules {
	int slots;
	int is_virtual; /* the firmware says that it is a virtual machine's */
	struct module of[MODULES_MAX];
};

/* Reads structures out of a table; what is no structure is left out. */
LOCAL void dmi_parse(struct modules *modules, const unsigned char *table, size_t length);

/* The same of this machine; 0 where it cannot be read (not root, no firmware). */
LOCAL int dmi_read(struct modules *modules);

/* How many channels the modules of DDR name, as "P0 CHANNEL A", in bank or locator; 0 where one
 * names none, or not whose it is of several SOCKETS. */
LOCAL int dmi_channels(const struct modules *modules, int sockets);

/* How many sockets they name, as "PROC 1 DIMM 3"; 0 where one names none. */
LOCAL int dmi_sockets(const struct modules *modules);

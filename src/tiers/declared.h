/*
 * declared: what the firmware says of a memory, seen from a domain with CPUs.
 *
 * HMAT (ACPI 6.2 and later), as the kernel shows it: only for the best initiators of a memory, so
 * not for each pair.  Sources: Documentation/admin-guide/mm/numaperf.rst of Linux; access1 is
 * among CPUs alone (5.10 and later), access0 among devices, too.  SLIT: distances relative to 10.
 */
#pragma once

#include "../harness/config.h"

struct declared {
	double read_ns, read_gbs; /* HMAT; 0: it does not say */
	int distance, local;      /* SLIT: of this pair, and of the domain to itself; 0: none */
};

void declared_read(struct declared *declared, int cpus, int memory);

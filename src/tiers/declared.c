#include "declared.h"

#include "../harness/machine/domains.h"
#include "../harness/sysfile.h"

static double declared_number(int memory, int access, const char *name)
{
	char line[SYSLINE_MAX];

	if (!sysfile_line(line, "/sys/devices/system/node/node%d/access%d/initiators/%s", memory,
			  access, name))
		return 0;
	return atof(line);
}

/* Whether the values of that class are said of this domain's CPUs. */
static int declared_is_of(int cpus, int memory, int access)
{
	char line[SYSLINE_MAX];

	/* a link to the initiator's own folder */
	return sysfile_line(line,
			    "/sys/devices/system/node/node%d/access%d/initiators/node%d/distance",
			    memory, access, cpus);
}

void declared_read(struct declared *declared, int cpus, int memory)
{
	int access;

	*declared = (struct declared){ 0, 0, 0, 0 };
	for (access = 1; access >= 0; access--)
		if (declared_is_of(cpus, memory, access)) {
			declared->read_ns = declared_number(memory, access, "read_latency");
			/* MB/s */
			declared->read_gbs =
				declared_number(memory, access, "read_bandwidth") / 1000;
			break;
		}
	declared->distance = domain_distance(cpus, memory);
	declared->local = domain_distance(cpus, cpus);
}

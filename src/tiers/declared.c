#include "declared.h"

#include "../harness/machine/topology.h"
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

/* The number at that place of a line of numbers; 0 where there are fewer. */
static int declared_at(const char *line, int place)
{
	char *end;
	long number = 0;

	for (; place >= 0; place--, line = end) {
		number = strtol(line, &end, 10);
		if (end == line)
			return 0;
	}
	return (int)number;
}

/* Distances are listed for the domains that are online, in their order. */
static int declared_place(int domain)
{
	struct cpuset domains;
	int d, place = 0;

	topology_all_domains(&domains);
	EACH_OF_SET (d, &domains) {
		if (d == domain)
			return place;
		place++;
	}
	return -1;
}

void declared_read(struct declared *declared, int cpus, int memory)
{
	char line[SYSLINE_MAX];
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
	if (sysfile_line(line, "/sys/devices/system/node/node%d/distance", cpus)) {
		declared->distance = declared_at(line, declared_place(memory));
		declared->local = declared_at(line, declared_place(cpus));
	}
}

/*
 * topology: what the program makes of a recorded machine, without running there.
 *
 * topology CPUS [DOMAINS]; built from changed sources (other_machine).  CPUS are those that the
 * threads may use, DOMAINS the NUMA domains that a memory policy names.
 */
#include "harness/harness.c"

#include "stream/array_size.c"
#include "stream/kernels/arrays.c"

#include <string.h>

static void write_domains(const struct cpuset *cpus)
{
	char list[CPU_LIST_MAX], name[16];
	struct cpuset domains, members;
	int domain, cpu;

	topology_domains(&domains, cpus);
	json_text("local_domains", cpuset_format(&domains, list));
	domains_local(&domains, cpus);
	json_text("local_memory", cpuset_format(&domains, list));
	topology_domains(&domains, cpus);
	json_open("domain_cpus", '{');
	EACH_OF_SET (domain, &domains) {
		cpuset_clear(&members);
		EACH_OF_SET (cpu, cpus)
			if (topology_is_in(cpu, domain))
				cpuset_add(&members, cpu);
		snprintf(name, sizeof(name), "%d", domain);
		json_text(name, cpuset_format(&members, list));
	}
	json_close('}');
}

int main(int argc, char **argv)
{
	struct cpuset cpus, domains;
	struct options options;
	size_t side;
	struct llc llc;
	static struct residency_found residency;
	char note[256], list[CPU_LIST_MAX];

	cpuset_parse(&cpus, argc > 1 ? argv[1] : "");
	topology_domains(&domains, &cpus);
	if (argc > 2)
		cpuset_parse(&domains, argv[2]);
	llc_find(&llc, &cpus, NULL);
	side = domains_side_cache(&domains);
	memset(&options, 0, sizeof(options));
	verdict_allow(ARRAY_TOO_SMALL); /* nothing is timed */
	size_choose(&options, &residency,
		    side || llc.bytes ? (side > llc.bytes ? side : llc.bytes)
				      : (size_t)LLC_ASSUMED_MIB << 20,
		    side || llc.bytes ? LLC_FROM_SYSFS : LLC_UNKNOWN, 1, note);
	json_begin(stdout);
	json_open(NULL, '{');
	json_text("cpus", cpuset_format(&cpus, list));
	json_count("cores", (unsigned)topology_cores(&cpus));
	json_count("sockets", (unsigned)topology_sockets(&cpus));
	json_count("llc_bytes", llc.bytes);
	json_count("memory_side_bytes", side);
	json_count("memory_on_domains", memory_total_on(&domains));
	json_count("array_size", options.size);
	json_text("note", note);
	json_number("cgroup_cpus", cgroup_cpu_quota());
	write_domains(&cpus);
	json_close('}');
	return 0;
}

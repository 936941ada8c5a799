#include "placement.h"

#include "../machine/cpuset.h"
#include "../machine/topology.h"
#include "../verdict.h"
#include "thread_range.h"
#include "threads.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES_A_SHARE = 16, POLICIES = 6 };

/* linux/mempolicy.h: MPOL_PREFERRED, BIND, INTERLEAVE carry a list of domains. */
static const char *const POLICY[POLICIES] = { "default",    "preferred", "bind",
					      "interleave", "local",     "preferred-many" };

/* The policy's number, and the domains it names as a set. */
static int policy(struct cpuset *domains)
{
	unsigned long mask[DOMAINS_MAX / (8 * sizeof(long))];
	int mode = 0, node;

	cpuset_clear(domains);
	memset(mask, 0, sizeof(mask));
#ifdef SYS_get_mempolicy
	if (syscall(SYS_get_mempolicy, &mode, mask, (unsigned long)DOMAINS_MAX, NULL, 0UL) != 0)
		return 0;
#endif
	for (node = 0; node < DOMAINS_MAX; node++)
		if (mask[(size_t)node / (8 * sizeof(long))] >>
			    ((size_t)node % (8 * sizeof(long))) &
		    1)
			cpuset_add(domains, node);
	return mode & 0xff;
}

void placement_asked(struct cpuset *domains, const struct cpuset *cpus)
{
	policy(domains);
	if (!cpuset_count(domains))
		topology_domains(domains, cpus);
}

int placement_is_bound(struct cpuset *domains)
{
	return strcmp(POLICY[policy(domains) % POLICIES], "bind") == 0 && cpuset_count(domains);
}

const char *placement_policy(void)
{
	struct cpuset domains;
	const int mode = policy(&domains);

	return mode < POLICIES ? POLICY[mode] : "other";
}

int placement_domain(const void *address)
{
	int domain = -1;
#ifdef SYS_move_pages
	void *page = (void *)((uintptr_t)address / 4096 * 4096);

	if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &domain, 0) != 0)
		domain = -1;
#else
	(void)address;
#endif
	return domain;
}

const char *placement_physical(const void *address, char text[PHYSICAL_TEXT_MAX])
{
	const unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE);
	const unsigned long long at = (unsigned long long)(uintptr_t)address;
	unsigned long long entry = 0, frame;
	const int file = open("/proc/self/pagemap", O_RDONLY);

	if (file < 0)
		return NULL;
	if (pread(file, &entry, sizeof(entry), (off_t)(at / page * sizeof(entry))) !=
	    (ssize_t)sizeof(entry))
		entry = 0;
	close(file);
	frame = entry & ((1ULL << 55) - 1); /* Documentation/admin-guide/mm/pagemap.rst */
	snprintf(text, PHYSICAL_TEXT_MAX, "0x%llx", frame * page + at % page);
	return frame ? text : NULL;
}

static void sample(struct placement *p, const void *address, const struct cpuset *asked)
{
	const int domain = placement_domain(address);

	p->sampled++;
	if (domain < 0)
		p->absent++;
	else if (domain < DOMAINS_MAX)
		p->on[domain]++;
	if (domain >= 0 && !cpuset_has(asked, domain))
		p->misplaced++;
}

static void sample_share(struct placement *p, const struct arrays *arrays, int thread,
			 const struct cpuset *asked)
{
	const struct share share = share_of(arrays->size, (size_t)thread, (size_t)threads_count());
	int array, i;

	for (array = 0; array < ARRAYS; array++)
		for (i = 0; i < PAGES_A_SHARE && share.size; i++)
			sample(p,
			       &arrays->of[array][share.first + share.size / PAGES_A_SHARE * i +
						  share.size / (2 * PAGES_A_SHARE)],
			       asked);
}

void placement_check(struct placement *p, const struct arrays *arrays, const char *when)
{
	struct cpuset named, local;
	char list[CPU_LIST_MAX];
	int t;

	memset(p, 0, sizeof(*p));
	policy(&named);
	for (t = 0; t < threads_count(); t++) {
		topology_domains(&local, &threads_seen(t)->affinity);
		sample_share(p, arrays, t, cpuset_count(&named) ? &named : &local);
	}
	if (p->misplaced * 100 > p->sampled)
		verdict_invalid(MEMORY_NOT_WHERE_ASKED,
				"%zu of %zu pages sampled %s do not lie on the %s NUMA domain %s",
				p->misplaced, p->sampled, when,
				cpuset_count(&named) ? "asked" : "local",
				cpuset_format(cpuset_count(&named) ? &named : &local, list));
}

#include "placement.h"

#include "../json.h"
#include "../machine/memory_policy.h"
#include "../sysfile.h"
#include "../verdict.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES_PER_SAMPLE = 16 };
enum { POLICY_NODE_OF_ADDRESS = 1 | 2 }; /* linux/mempolicy.h: MPOL_F_NODE | MPOL_F_ADDR */

static int placement_refusal; /* errno of the latest refusal */

/* Docker's default filter has no way to move_pages; --cap-add SYS_NICE lets this one through. */
static int placement_look_up_policy(const void *address)
{
	int domain = -1;

#ifdef SYS_get_mempolicy
	if (syscall(SYS_get_mempolicy, &domain, NULL, 0UL, address, POLICY_NODE_OF_ADDRESS) != 0)
		return -1;
#else
	(void)address;
#endif
	return domain;
}

static int placement_look_up(const void *address)
{
	int domain = -1, refusal = ENOSYS;
#ifdef SYS_move_pages
	void *page = (void *)((uintptr_t)address / 4096 * 4096);

	refusal = syscall(SYS_move_pages, 0, 1UL, &page, NULL, &domain, 0) != 0 ? errno : 0;
#endif
	if (!refusal)
		return domain;
	domain = placement_look_up_policy(address);
	if (domain < 0)
		placement_refusal = refusal;
	return domain;
}

/* Linux 6.1 to 6.5 does not look up a page that NUMA balancing has marked until it is touched. */
int placement_domain(const void *address)
{
	const int domain = placement_look_up(address);

	if (domain >= 0 || placement_refusal)
		return domain;
	(void)*(const volatile char *)address;
	return placement_look_up(address);
}

static int placement_are_several(void (*find)(struct cpuset *domains))
{
	struct cpuset domains;

	find(&domains);
	return cpuset_count(&domains) > 1;
}

/* As the default filters of containers refuse these calls. */
static const char *placement_way_out(int error)
{
	return error == EPERM || error == ENOSYS ? "; a container needs --cap-add SYS_NICE" : "";
}

void placement_unknown(void)
{
	if (!placement_are_several(domains_with_memory))
		return;
	(placement_refusal && placement_are_several(domains_allowed) ? verdict_invalid
								     : verdict_warn)(
		WRONG_PLACEMENT,
		"not known: the kernel does not say on which NUMA domain pages lie%s%s%s",
		placement_refusal ? ": move_pages: " : "",
		placement_refusal ? strerror(placement_refusal) : "",
		placement_way_out(placement_refusal));
}

void placement_refused(int domain, int error)
{
	if (!placement_are_several(domains_with_memory))
		return;
	(placement_are_several(domains_allowed) ? verdict_invalid : verdict_warn)(
		WRONG_PLACEMENT,
		"the kernel does not bind memory to NUMA domain %d: set_mempolicy: %s%s", domain,
		strerror(error), placement_way_out(error));
}

static void placement_warn_of(int domain, int has_memory)
{
	char list[CPU_LIST_MAX];
	struct cpuset local;

	domain_nearest(&local, domain);
	verdict_warn(WRONG_PLACEMENT,
		     "NUMA domain %d has CPUs and no memory%s: local is %s, the nearest", domain,
		     has_memory ? " that this job may use (cpuset.mems)" : "",
		     cpuset_format(&local, list));
}

void placement_judge_home(const struct cpuset *cpus)
{
	struct cpuset own, all, allowed;
	int d;

	topology_domains(&own, cpus);
	domains_with_memory(&all);
	domains_allowed(&allowed);
	EACH_OF_SET (d, &own)
		if (!cpuset_has(&allowed, d))
			placement_warn_of(d, cpuset_has(&all, d));
}

const char *placement_physical(const void *address, char text[PHYSICAL_TEXT_MAX])
{
	const unsigned long long page = (unsigned long long)sysconf(_SC_PAGESIZE);
	const unsigned long long at = (unsigned long long)(uintptr_t)address;
	unsigned long long entry = 0, frame;
	const int file = sysfile_descriptor("/proc/self/pagemap");

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

void placement_begin(struct placement *p)
{
	memset(p, 0, sizeof(*p));
	p->policy = memory_policy(&p->policy_domains);
}

static void placement_look_at_page(struct placement *p, const void *address,
				   const struct cpuset *requested)
{
	const int domain = placement_domain(address);

	p->sampled++;
	if (domain < 0 || !cpuset_count(requested))
		p->absent++;
	else if (domain < DOMAINS_MAX)
		p->on[domain]++;
	if (domain >= 0 && cpuset_count(requested) && !cpuset_has(requested, domain)) {
		p->misplaced++;
		p->requested = *requested;
	}
}

void placement_sample(struct placement *p, const void *memory, size_t bytes,
		      const struct cpuset *affinity)
{
	const char *first = memory;
	struct cpuset requested;
	size_t i;

	memory_policy_domains(&requested, affinity);
	cpuset_join(&p->cpus, affinity);
	for (i = 0; i < PAGES_PER_SAMPLE && bytes; i++)
		placement_look_at_page(
			p, first + bytes / PAGES_PER_SAMPLE * i + bytes / (2 * PAGES_PER_SAMPLE),
			&requested);
}

void placement_judge(const struct placement *p, const char *when)
{
	char list[CPU_LIST_MAX];

	if (p->sampled && p->absent == p->sampled)
		placement_unknown();
	if (p->misplaced * 100 > p->sampled)
		verdict_invalid(WRONG_PLACEMENT,
				"%zu of %zu pages sampled %s do not lie on the %s NUMA domain %s",
				p->misplaced, p->sampled, when,
				cpuset_count(&p->policy_domains) ? "requested" : "local",
				cpuset_format(&p->requested, list));
	if (!cpuset_count(&p->policy_domains))
		placement_judge_home(&p->cpus);
}

void placement_write(const char *key, const struct placement *p)
{
	char name[16], list[CPU_LIST_MAX];
	int domain;

	json_open(key, '{');
	json_text("policy", p->policy);
	if (cpuset_count(&p->policy_domains))
		json_text("policy_domains", cpuset_format(&p->policy_domains, list));
	json_count("pages_sampled", p->sampled);
	json_count("pages_absent", p->absent);
	json_count("pages_misplaced", p->misplaced);
	json_open("pages_on", '{');
	for (domain = 0; domain < DOMAINS_MAX; domain++) {
		snprintf(name, sizeof(name), "%d", domain);
		if (p->on[domain])
			json_count(name, p->on[domain]);
	}
	json_close('}');
	json_close('}');
}

#include "places.h"

/* Numbers, LENGTH of them from FIRST on, STRIDE apart. */
struct interval {
	long first, length, stride;
};

/* ":LENGTH:STRIDE" where they stand there. */
static void place_read_rest(const char **at, struct interval *i)
{
	char *end;

	i->length = i->stride = 1;
	if (**at != ':')
		return;
	i->length = strtol(*at + 1, &end, 10);
	*at = end;
	if (**at != ':')
		return;
	i->stride = strtol(*at + 1, &end, 10);
	*at = end;
}

static int place_is_missing(const struct cpuset *online, long cpu)
{
	return cpu < 0 || cpu >= CPUS_MAX || !cpuset_has(online, (int)cpu);
}

/* The first of the interval, moved by OFFSET, that is missing. */
static long place_missing_of(const struct interval *i, long offset, const struct cpuset *online)
{
	long n;

	for (n = 0; n < i->length && n < CPUS_MAX; n++)
		if (place_is_missing(online, i->first + offset + n * i->stride))
			return i->first + offset + n * i->stride;
	return -1;
}

/* "{...}" with its repetitions; the text goes on behind it. */
static long place_missing_of_place(const char **at, const struct cpuset *online)
{
	struct interval list[64], places;
	int count = 0, i;
	long n;

	do {
		char *end;

		list[count].first = strtol(*at + 1, &end, 10);
		if (end == *at + 1)
			return -1; /* no number: the runtime says so itself */
		*at = end;
		place_read_rest(at, &list[count++]);
	} while (**at == ',' && count < 64);
	if (**at != '}')
		return -1;
	++*at;
	place_read_rest(at, &places);
	for (n = 0; n < places.length && n < CPUS_MAX; n++)
		for (i = 0; i < count; i++) {
			const long cpu = place_missing_of(&list[i], n * places.stride, online);

			if (cpu >= 0)
				return cpu;
		}
	return -1;
}

int places_first_missing(const char *places, const struct cpuset *online)
{
	const char *at = places;

	while (at && (at = strpbrk(at, "{!")) != NULL) {
		long cpu;

		if (*at == '!') {
			at = strchr(at, '}');
			continue;
		}
		cpu = place_missing_of_place(&at, online);
		if (cpu >= 0)
			return (int)cpu;
		at += *at != '\0' && *at != '{';
	}
	return -1;
}

int places_are_wide(const char *places)
{
	static const char *const wide[] = { "sockets", "numa_domains", "ll_caches" };
	size_t i;

	if (!places)
		return 0;
	places += strspn(places, " ");
	for (i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		if (strncasecmp(places, wide[i], strlen(wide[i])) == 0)
			return 1;
	return *places == '{' && places[1 + strcspn(places + 1, ",:}")] != '}';
}

int affinity_first_missing(const char *list, const struct cpuset *online)
{
	const char *at = list;

	while (*at) {
		struct interval i = { 0, 1, 1 };
		char *end;
		long cpu;

		i.first = strtol(at, &end, 10);
		if (end == at)
			return -1; /* no number: the runtime says so itself */
		if (*end == '-')
			i.length = strtol(end + 1, &end, 10) - i.first + 1;
		if (*end == ':') {
			i.stride = strtol(end + 1, &end, 10);
			i.length = i.stride > 0 ? (i.length + i.stride - 1) / i.stride : 0;
		}
		cpu = place_missing_of(&i, 0, online);
		if (cpu >= 0)
			return (int)cpu;
		at = end + strspn(end, ", \t");
		if (at == end && *at)
			return -1;
	}
	return -1;
}

#include "fault.h"

#include "clock.h"

#include <unistd.h>

static int fault_me;

void fault_rank(int rank)
{
	fault_me = rank;
}

int fault_is_here(void)
{
#ifdef MEMBW_PLANT_RANK
	return fault_me == MEMBW_PLANT_RANK;
#else
	return fault_me >= 0;
#endif
}

const char *fault_path(const char *path, char room[FAULT_PATH_MAX])
{
#ifdef MEMBW_SYS_ROOT
	snprintf(room, FAULT_PATH_MAX, "%s%s", MEMBW_SYS_ROOT, path);
	if (strncmp(path, "/sys/", 5) == 0 || access(room, R_OK) == 0)
		return room;
#endif
	(void)room;
	return path;
}

int fault_cpu_width(int bits)
{
#ifdef MEMBW_CPU_WIDTH
	return bits < MEMBW_CPU_WIDTH ? bits : MEMBW_CPU_WIDTH;
#else
	return bits;
#endif
}

int fault_hides_cpuid(void)
{
#ifdef MEMBW_SYS_ROOT
	return 1;
#else
	return 0;
#endif
}

size_t fault_llc(size_t bytes)
{
#if defined(MEMBW_PLANT_LLC)
	(void)bytes;
	return MEMBW_PLANT_LLC;
#elif defined(MEMBW_SYS_ROOT)
	(void)bytes;
	return 0;
#else
	return bytes;
#endif
}

size_t fault_memory(size_t bytes)
{
#ifdef MEMBW_PLANT_MEMORY
	if (fault_is_here())
		return MEMBW_PLANT_MEMORY;
#endif
	return bytes;
}

double fault_time(double seconds, int i)
{
#ifdef MEMBW_PLANT_SLOW
	if (fault_is_here()) {
		const double until = clock_now() + seconds * (MEMBW_PLANT_SLOW - 1);

		while (clock_now() < until)
			continue;
		seconds *= MEMBW_PLANT_SLOW;
	}
#endif
#ifdef MEMBW_PLANT_STUCK
	while (fault_is_here() && i == MEMBW_PLANT_STUCK)
		clock_now();
#endif
	(void)i;
	return seconds;
}

void fault_flip(void *const *arrays, size_t size)
{
#ifdef MEMBW_PLANT_FAULT
	static const size_t fault[] = { MEMBW_PLANT_FAULT };
	unsigned char *bytes = (unsigned char *)arrays[fault[0]] + fault[1] * size;

	if (fault_is_here())
		bytes[fault[2] / 8] ^= (unsigned char)(1u << fault[2] % 8);
#else
	(void)arrays;
	(void)size;
#endif
}

#ifdef MEMBW_PLANT_PAYLOAD
unsigned long long fault_payload(unsigned long long turn, int w)
{
	const int fault[] = { MEMBW_PLANT_PAYLOAD };

	return turn == 101 && w == fault[0] ? 1ULL << fault[1] : 0;
}
#endif

#ifdef MEMBW_PLANT_LINKS
void fault_link(int one, int other)
{
	static const int faults[][3] = { MEMBW_PLANT_LINKS };
	size_t i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		const int a = faults[i][0], b = faults[i][1];

		if ((a == one && (b == other || b < 0)) || (a == other && (b == one || b < 0)))
			usleep((useconds_t)faults[i][2]);
	}
}
#endif

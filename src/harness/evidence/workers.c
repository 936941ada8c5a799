#include "workers.h"

#include "../clock.h"
#include "../elementary.h"
#include "../error.h"
#include "../sysfile.h"

#include <time.h>

/* A thread and what the kernel has counted of it so far. */
struct task {
	long id;
	double cpu, ready;
};

struct tasks {
	struct task *list;
	int count, room;
};

static struct tasks worker_tasks_before;
static double worker_began;

static struct task *worker_add_task(struct tasks *tasks)
{
	if (tasks->count == tasks->room) {
		tasks->room = 2 * tasks->room + 64;
		tasks->list = realloc(tasks->list, (size_t)tasks->room * sizeof(*tasks->list));
		if (!tasks->list)
			die("no memory for '%d' threads", "start fewer", tasks->room);
	}
	return &tasks->list[tasks->count++];
}

/* To the nanosecond, of a thread of this process that runs, too: what schedstat says of such a one
 * is as old as the last tick.  Source: include/linux/posix-timers_types.h, as of
 * pthread_getcpuclockid, which wants a pthread_t.  0: the kernel does not say. */
static double worker_cpu_seconds(long id)
{
	const clockid_t clock = (clockid_t)(~(unsigned)id << 3 | 6);
	struct timespec t;

	return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0;
}

/* "RUNNING READY SLICES", ns */
static void worker_read_task(struct tasks *tasks, const char *id)
{
	unsigned long long running, ready;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/schedstat", id);
	file = sysfile_open(path);
	if (!file)
		return;
	if (fscanf(file, "%llu %llu", &running, &ready) == 2) {
		struct task *const task = worker_add_task(tasks);

		task->id = atol(id);
		task->cpu = worker_cpu_seconds(task->id);
		if (!is_positive(task->cpu))
			task->cpu = 1e-9 * (double)running;
		task->ready = 1e-9 * (double)ready;
	}
	fclose(file);
}

static void worker_read_tasks(struct tasks *tasks)
{
	DIR *folder = sysfile_folder("/proc/self/task");
	struct dirent *entry;

	tasks->count = 0;
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			worker_read_task(tasks, entry->d_name);
	if (folder)
		closedir(folder);
}

void workers_start(void)
{
	worker_read_tasks(&worker_tasks_before);
	worker_began = clock_now();
}

/* Its earlier value; 0 of a thread that began since. */
static struct task worker_earlier(const struct task *task)
{
	const struct task none = { 0, 0, 0 };
	int i;

	for (i = 0; i < worker_tasks_before.count; i++)
		if (worker_tasks_before.list[i].id == task->id)
			return worker_tasks_before.list[i];
	return none;
}

void workers_stop(struct workers *workers)
{
	static struct tasks now;
	double wanted = 0; /* by the thread that wanted most: it ran, or was ready to */
	int i;

	memset(workers, 0, sizeof(*workers));
	workers->wall = clock_now() - worker_began;
	worker_read_tasks(&now);
	for (i = 0; i < now.count; i++) {
		const struct task before = worker_earlier(&now.list[i]);

		now.list[i].cpu -= before.cpu;
		now.list[i].ready -= before.ready;
		workers->all += now.list[i].cpu;
		if (now.list[i].cpu > workers->most)
			workers->most = now.list[i].cpu;
		if (now.list[i].cpu + now.list[i].ready > wanted)
			wanted = now.list[i].cpu + now.list[i].ready;
	}
	for (i = 0; i < now.count; i++) {
		if (now.list[i].cpu + now.list[i].ready <= wanted / 2)
			continue;
		workers->count++;
		if (now.list[i].ready > workers->ready)
			workers->ready = now.list[i].ready;
	}
}

const char *workers_spin(void)
{
	static const struct {
		const char *name, *value;
	} spins[] = { { "OMP_WAIT_POLICY", "active" },
		      { "GOMP_SPINCOUNT", "infinite" },
		      { "GOMP_SPINCOUNT", "infinity" },
		      { "KMP_BLOCKTIME", "infinite" } };
	static char text[64];
	size_t i;

	for (i = 0; i < sizeof(spins) / sizeof(*spins); i++) {
		const char *value = getenv(spins[i].name);

		if (!value || strcasecmp(value, spins[i].value) != 0)
			continue;
		snprintf(text, sizeof(text), "%s=%s", spins[i].name, value);
		return text;
	}
	return NULL;
}

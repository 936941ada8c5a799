#include "neighbours.h"

#include "../json.h"
#include "../sysfile.h"

#include <ctype.h>
#include <unistd.h>

enum { NEIGHBOURS = 3 };

static const double NEIGHBOUR_LEAST_SECONDS = 0.1;

struct neighbour {
	int pid, parent;
	double seconds;
	char name[32];
};

struct neighbour_list {
	struct neighbour *of;
	size_t count;
};

static struct neighbour_list neighbour_before;
static struct neighbour neighbour_busiest[NEIGHBOURS];

/* "4711 (a name) R 1 ...": a name may hold blanks and brackets, and what moves a cursor. */
static int neighbour_read(struct neighbour *process, const char *pid)
{
	char path[64], text[512], *name = NULL, *end = NULL, *letter;
	unsigned long user, system;
	long child_user, child_system;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.16s/stat", pid);
	file = sysfile_open(path);
	if (file && fgets(text, sizeof(text), file)) {
		name = strchr(text, '(');
		end = strrchr(text, ')');
	}
	if (file)
		fclose(file);
	if (!name || !end ||
	    sscanf(end + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
		   &process->parent, &user, &system, &child_user, &child_system) < 5)
		return 0;
	*end = '\0';
	for (letter = ++name; *letter; letter++)
		if (!isprint((unsigned char)*letter))
			*letter = '?';
	process->pid = atoi(pid);
	snprintf(process->name, sizeof(process->name), "%.31s", name);
	process->seconds =
		((double)user + (double)system + (double)child_user + (double)child_system) /
		(double)sysconf(_SC_CLK_TCK);
	return 1;
}

static int neighbour_order(const void *a, const void *b)
{
	const struct neighbour *const one = a, *const other = b;

	return (one->pid > other->pid) - (one->pid < other->pid);
}

/* By their numbers. */
static struct neighbour_list neighbour_look(void)
{
	struct neighbour_list list = { NULL, 0 };
	DIR *folder = sysfile_folder("/proc");
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL) {
		struct neighbour process, *more;

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !neighbour_read(&process, entry->d_name))
			continue;
		more = realloc(list.of, (list.count + 1) * sizeof(*more));
		if (!more)
			break;
		list.of = more;
		list.of[list.count++] = process;
	}
	if (folder)
		closedir(folder);
	if (list.count)
		qsort(list.of, list.count, sizeof(*list.of), neighbour_order);
	return list;
}

void neighbours_start(void)
{
	free(neighbour_before.of);
	neighbour_before = neighbour_look();
}

static struct neighbour *neighbour_of(const struct neighbour_list *list, int pid)
{
	struct neighbour wanted = { 0, 0, 0, "" };

	wanted.pid = pid;
	return list->count
		       ? bsearch(&wanted, list->of, list->count, sizeof(wanted), neighbour_order)
		       : NULL;
}

/* A process whose child ended since then also counts the child's earlier seconds: they were taken
 * by then.  Of an orphan the first process has them. */
static void neighbour_end(const struct neighbour_list *now)
{
	size_t i;

	for (i = 0; i < neighbour_before.count; i++) {
		const struct neighbour *const ended = &neighbour_before.of[i];
		struct neighbour *heir = NULL;
		int pid = ended->parent;

		if (neighbour_of(now, ended->pid))
			continue;
		while (pid > 1 && !neighbour_of(now, pid)) {
			heir = neighbour_of(&neighbour_before, pid);
			pid = heir ? heir->parent : 1;
		}
		heir = neighbour_of(&neighbour_before, pid);
		if (heir)
			heir->seconds += ended->seconds;
	}
}

/* What it took since neighbours_start(); one that was not there then took all of it since. */
static double neighbour_took(const struct neighbour *now)
{
	const struct neighbour *const before = neighbour_of(&neighbour_before, now->pid);

	return now->seconds - (before ? before->seconds : 0);
}

static void neighbour_enter(struct neighbour process)
{
	int i;

	for (i = 0; i < NEIGHBOURS; i++)
		if (process.seconds > neighbour_busiest[i].seconds) {
			const struct neighbour less = neighbour_busiest[i];

			neighbour_busiest[i] = process;
			process = less;
		}
}

void neighbours_stop(int ranks)
{
	struct neighbour_list now = neighbour_look();
	struct neighbour own = { 0, 0, 0, "" };
	size_t i;

	neighbour_read(&own, "self");
	neighbour_end(&now);
	memset(neighbour_busiest, 0, sizeof(neighbour_busiest));
	for (i = 0; i < now.count; i++) {
		struct neighbour process = now.of[i];

		process.seconds = neighbour_took(&process);
		if (process.pid != (int)getpid() && process.seconds >= NEIGHBOUR_LEAST_SECONDS &&
		    (ranks < 2 || strcmp(process.name, own.name) != 0))
			neighbour_enter(process);
	}
	free(now.of);
}

const char *neighbours_text(void)
{
	static char text[NEIGHBOURS * 64 + 32];
	size_t used = 0;
	int i;

	*text = '\0';
	for (i = 0; i < NEIGHBOURS && neighbour_busiest[i].pid; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s %s (%d) %.1f s",
			i ? "," : ", busiest meanwhile:", neighbour_busiest[i].name,
			neighbour_busiest[i].pid, neighbour_busiest[i].seconds);
	return text;
}

void neighbours_write(void)
{
	int i;

	json_open("processes", '[');
	for (i = 0; i < NEIGHBOURS && neighbour_busiest[i].pid; i++) {
		json_open(NULL, '{');
		json_text("name", neighbour_busiest[i].name);
		json_count("pid", (unsigned long long)neighbour_busiest[i].pid);
		json_number("cpu_s", neighbour_busiest[i].seconds);
		json_close('}');
	}
	json_close(']');
}

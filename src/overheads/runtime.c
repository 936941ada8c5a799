#include "runtime.h"

#include "../harness/json.h"
#include "../harness/openmp.h"
#include "../harness/sysfile.h"

#include <ctype.h>
#include <limits.h>
#include <sys/stat.h>

/* Where more than one of them is mapped, as by LD_PRELOAD of Intel's under a program of gcc's,
 * the last of the table has the calls: libiomp5 and libomp have libgomp's entry points, too. */
static const struct library {
	const char *name, *file;
	const char *version; /* text that stands before it in the file; with it for libgomp */
} libraries[] = {
	{ "libgomp", "/libgomp", "GOMP_" },
	{ "libomp", "/libomp.so", "LLVM OMP version: " },
	{ "libomp", "/libomp-", "LLVM OMP version: " },
	{ "libomp", "/libomp5", "LLVM OMP version: " },
	{ "libiomp5", "/libiomp5", "Intel(R) OMP version: " },
};

static const struct library *library;
static char library_path[PATH_MAX];

static void look_for_library(void)
{
	FILE *const maps = sysfile_open("/proc/self/maps");
	char line[PATH_MAX + 128];

	while (sysfile_next(maps, line, sizeof(line))) {
		const char *const path = strchr(line, '/');
		size_t i;

		for (i = 0; path && i < sizeof(libraries) / sizeof(*libraries); i++)
			if (strstr(path, libraries[i].file) &&
			    (!library || &libraries[i] > library)) {
				library = &libraries[i];
				snprintf(library_path, sizeof(library_path), "%.*s",
					 (int)strcspn(path, "\n"), path);
			}
	}
}

static const struct library *runtime(void)
{
	if (!library)
		look_for_library();
	return library;
}

const char *runtime_name(void)
{
	return runtime() ? library->name : "unknown";
}

static char *read_whole(const char *path, size_t *size)
{
	struct stat facts;
	FILE *const file = sysfile_open(path);
	char *text = NULL;

	if (file && fstat(fileno(file), &facts) == 0)
		text = malloc((size_t)facts.st_size + 1);
	*size = text ? fread(text, 1, (size_t)facts.st_size, file) : 0;
	if (file)
		fclose(file);
	return text;
}

/* The text of a version behind WHAT that is the greatest: libgomp names each of its interfaces,
 * GOMP_1.0 to GOMP_5.1 (gcc 12), and says no more of itself. */
static void greatest(char best[64], const char *text, size_t size, const char *what)
{
	const char *at = text, *const end = text + size;

	while ((at = memmem(at, (size_t)(end - at), what, strlen(what))) != NULL) {
		char word[64];
		size_t n = 0;

		at += strlen(what);
		while (at + n < end && n < sizeof(word) - 1 &&
		       (isdigit((unsigned char)at[n]) || at[n] == '.'))
			n++;
		memcpy(word, at, n);
		word[n] = '\0';
		if (n && isdigit((unsigned char)*word) && strverscmp(word, best) > 0)
			memcpy(best, word, sizeof(word));
	}
}

const char *runtime_version(void)
{
	static char text[96];
	char best[64] = "";
	size_t size;
	char *file;

	if (*text || !runtime())
		return text;
	file = read_whole(library_path, &size);
	if (file)
		greatest(best, file, size, library->version);
	free(file);
	snprintf(text, sizeof(text), "%s%s",
		 *best && strcmp(library->version, "GOMP_") == 0 ? "GOMP_" : "", best);
	return text;
}

void runtime_write(void)
{
	json_open("runtime", '{');
	json_text("name", runtime_name());
	json_text("version", runtime_version());
	json_text("library", library_path);
	json_count("openmp", _OPENMP);
	json_text("wait_policy", getenv("OMP_WAIT_POLICY"));
	json_text("spin_count", getenv("GOMP_SPINCOUNT"));
	json_text("blocktime", getenv("KMP_BLOCKTIME"));
	json_text("library_mode", getenv("KMP_LIBRARY"));
	if (kmp_get_blocktime) /* that a thread spins before it sleeps */
		json_count("blocktime_ms", (unsigned)kmp_get_blocktime());
	json_text("places", getenv("OMP_PLACES"));
	json_text("proc_bind", getenv("OMP_PROC_BIND"));
	json_text("kmp_affinity", getenv("KMP_AFFINITY"));
	json_close('}');
}

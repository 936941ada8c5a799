#include "blas.h"

#include "../../harness/json.h"
#include "../../harness/verdict.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>

/* Not in libc before glibc 2.34: a line without -ldl then knows the objects alone. */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dladdr

enum { OBJECTS_MAX = 1024, FAMILIES = 6, CHOOSERS = 3 };

static struct {
	char *path[OBJECTS_MAX]; /* real paths, without the program's own */
	char *name[OBJECTS_MAX]; /* as they were requested */
	int count;
} blas_objects;

/* A library is of the family whose function it has.  It takes the kernels that its variables say
 * (OpenBLAS: dynamic.c and parameter.c; AOCL user guide 5.3, dynamic dispatch; oneMKL developer
 * guide, instruction set specific dispatching), else those that are best for this CPU. */
static const struct {
	const char *name, *has, *chosen_by[CHOOSERS + 1];
} blas_families[FAMILIES] = {
	{ "openblas", "openblas_get_config", { "OPENBLAS_CORETYPE", "OPENBLAS_BLOCK_FACTOR" } },
	{ "blis", "bli_info_get_version_str", { "BLIS_ARCH_TYPE", "AOCL_ENABLE_INSTRUCTIONS" } },
	{ "mkl",
	  "mkl_get_version_string",
	  { "MKL_ENABLE_INSTRUCTIONS", "MKL_DEBUG_CPU_TYPE", "MKL_CBWR" } },
	{ "armpl", "armplinfo", { NULL } },
	{ "nvpl", "nvpl_blas_get_version", { "NVPL_BLAS_DEBUG_CPU_TYPE" } },
	{ "flexiblas", "flexiblas_get_version", { NULL } },
};

/* Environment that says how many threads; which of them, a library knows. */
static const char *const blas_variables[] = { "OMP_NUM_THREADS",  "OPENBLAS_NUM_THREADS",
					      "GOTO_NUM_THREADS", "BLIS_NUM_THREADS",
					      "MKL_NUM_THREADS",  "ARMPL_NUM_THREADS",
					      "NVPL_NUM_THREADS", "MKL_DYNAMIC",
					      "OMP_WAIT_POLICY",  NULL };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int note_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	char real[PATH_MAX];

	(void)size, (void)unused;
	if (!*info->dlpi_name || blas_objects.count == OBJECTS_MAX ||
	    !realpath(info->dlpi_name, real))
		return 0;
	blas_objects.name[blas_objects.count] = strdup(info->dlpi_name);
	blas_objects.path[blas_objects.count++] = strdup(real);
	return 0;
}

/* The function of that name in an object or what it needs. */
static void *function_of(const char *object, const char *name)
{
	void *const handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD);

	return handle ? dlsym(handle, name) : NULL;
}

/* The real path of the object that has the function; NULL: none. */
static const char *object_of(void *function)
{
	static char real[PATH_MAX];
	Dl_info info;

	return function && dladdr(function, &info) && info.dli_fname &&
			       realpath(info.dli_fname, real)
		       ? real
		       : NULL;
}

/* FAMILIES: of none. */
static int family_number(const char *object)
{
	int f;

	for (f = 0; f < FAMILIES; f++)
		if (function_of(object, blas_families[f].has))
			break;
	return f;
}

static const char *family_of(const char *object)
{
	const int f = family_number(object);

	return f < FAMILIES ? blas_families[f].name : NULL;
}

/* Debian's libblas.so.3 of OpenBLAS is that of the libopenblas.so.0 next to it. */
static int is_one_library(const char *a, const char *b)
{
	const char *const family = family_of(a), *const other = family_of(b);
	const size_t folder = (size_t)(base_name(a) - a);

	return family && other && strcmp(family, other) == 0 &&
	       (size_t)(base_name(b) - b) == folder && strncmp(a, b, folder) == 0;
}

static void find_libraries(struct blas *blas)
{
	const char *called;
	int i;

	called = object_of(dlsym(RTLD_DEFAULT, "dgemm_"));
	if (called)
		snprintf(blas->path, sizeof(blas->path), "%s", called);
	for (i = 0; i < blas_objects.count; i++) {
		const char *const path = blas_objects.path[i];
		const char *const has = object_of(function_of(path, "dgemm_"));

		if (has && strcmp(has, path) == 0 && strcmp(path, blas->path) != 0 &&
		    !(*blas->path && is_one_library(blas->path, path)))
			snprintf(blas->other, sizeof(blas->other), "%s", path);
	}
	if (*blas->path)
		blas->family = family_of(blas->path);
}

/* ISO C has no pointer that is both. */
typedef void blas_function(void);

static blas_function *of_library(const struct blas *blas, const char *name)
{
	void *const found = function_of(blas->path, name);
	blas_function *function;

	memcpy(&function, &found, sizeof(function));
	return function;
}

static void ask_openblas(struct blas *blas)
{
	static const char *const kinds[] = { "none", "pthreads", "openmp" };
	char *(*const config)(void) = (char *(*)(void))of_library(blas, "openblas_get_config");
	char *(*const core)(void) = (char *(*)(void))of_library(blas, "openblas_get_corename");
	int (*const kind)(void) = (int (*)(void))of_library(blas, "openblas_get_parallel");
	int (*const threads)(void) = (int (*)(void))of_library(blas, "openblas_get_num_threads");

	if (config)
		snprintf(blas->says, sizeof(blas->says), "%.300s, kernels of %.60s", config(),
			 core ? core() : "");
	if (kind && kind() >= 0 && kind() < 3)
		blas->threading = kinds[kind()];
	blas->threads = threads ? threads() : 0;
}

static void ask_blis(struct blas *blas)
{
	char *(*const version)(void) =
		(char *(*)(void))of_library(blas, "bli_info_get_version_str");
	long (*const openmp)(void) =
		(long (*)(void))of_library(blas, "bli_info_get_enable_openmp");
	long (*const pthreads)(void) =
		(long (*)(void))of_library(blas, "bli_info_get_enable_pthreads");
	long (*const threads)(void) =
		(long (*)(void))of_library(blas, "bli_thread_get_num_threads");

	if (version)
		snprintf(blas->says, sizeof(blas->says), "BLIS %.300s", version());
	if (openmp && pthreads)
		blas->threading = openmp() ? "openmp" : pthreads() ? "pthreads" : "none";
	blas->threads = threads ? (int)threads() : 0;
}

/* Whether an object is mapped whose name begins so; ONLY: the one of that path. */
static int is_mapped(const char *name, size_t length, const char *only)
{
	int i;

	for (i = 0; i < blas_objects.count; i++)
		if ((!only || strcmp(blas_objects.path[i], only) == 0) &&
		    (strncmp(base_name(blas_objects.path[i]), name, length) == 0 ||
		     strncmp(base_name(blas_objects.name[i]), name, length) == 0))
			return 1;
	return 0;
}

static void ask_mkl(struct blas *blas)
{
	void (*const version)(char *, int) =
		(void (*)(char *, int))of_library(blas, "mkl_get_version_string");
	int (*const threads)(void) = (int (*)(void))of_library(blas, "MKL_Get_Max_Threads");

	if (version) {
		version(blas->says, 300);
		blas->says[strcspn(blas->says, "-")] = '\0'; /* the product, its date, blanks */
	}
	blas->threads = threads ? threads() : 0;
	if (is_mapped("libmkl_sequential", 17, NULL))
		blas->threading = "none";
	else if (is_mapped("libmkl_tbb_thread", 17, NULL))
		blas->threading = "tbb";
	else if (is_mapped("libmkl_", 7, NULL))
		blas->threading = "openmp";
}

void blas_look(struct blas *blas)
{
	memset(blas, 0, sizeof(*blas));
	dl_iterate_phdr(note_object, NULL);
	if (!dlsym || !dlopen || !dladdr)
		return;
	find_libraries(blas);
	if (!blas->family)
		return;
	if (strcmp(blas->family, "openblas") == 0)
		ask_openblas(blas);
	else if (strcmp(blas->family, "blis") == 0)
		ask_blis(blas);
	else if (strcmp(blas->family, "mkl") == 0)
		ask_mkl(blas);
}

static void judge_names(const struct blas *blas, int reason, const char *names)
{
	const char *name = names;
	int called = !*blas->path;

	while (*name) {
		const size_t length = strcspn(name, ",");

		if (*blas->path && !is_mapped(name, length, NULL))
			verdict_invalid(reason, "%.*s is not loaded: dgemm is that of %s",
					(int)length, name, blas->path);
		called |= is_mapped(name, length, blas->path);
		name += length + (name[length] == ',');
	}
	if (!called)
		verdict_invalid(reason, "dgemm is that of %s, not of %s", blas->path, names);
}

void blas_judge(const struct blas *blas, int reason, const char *names, const char *threading)
{
	if (*blas->other)
		verdict_invalid(reason, "two loaded libraries have a dgemm: %s and %s", blas->path,
				blas->other);
	if (names)
		judge_names(blas, reason, names);
	if (threading && blas->threading && strcmp(threading, blas->threading) != 0)
		verdict_invalid(reason, "%s uses '%s' threads, not '%s'", blas->path,
				blas->threading, threading);
}

const char *blas_chosen_by(const struct blas *blas)
{
	const int f = *blas->path ? family_number(blas->path) : FAMILIES;
	const char *const *variable;

	if (f == FAMILIES)
		return NULL;
	for (variable = blas_families[f].chosen_by; *variable; variable++)
		if (getenv(*variable))
			return *variable;
	return NULL;
}

const char *blas_text(const struct blas *blas)
{
	static char text[2 * BLAS_TEXT_MAX];

	snprintf(text, sizeof(text), "%s%s%s%s",
		 *blas->says   ? blas->says
		 : *blas->path ? base_name(blas->path)
			       : "a library that is part of the program",
		 blas->threading ? " (threads: " : "", blas->threading ? blas->threading : "",
		 blas->threading ? ")" : "");
	return text;
}

/* Those that are set, to the end of the list. */
static void write_variables(const char *const *variable)
{
	for (; *variable; variable++)
		if (getenv(*variable))
			json_text(*variable, getenv(*variable));
}

void blas_write(const struct blas *blas)
{
	int i;

	json_open("blas", '{');
	json_text("library", blas->path);
	json_text("family", blas->family);
	json_text("says", blas->says);
	json_text("threading", blas->threading);
	json_positive("threads", blas->threads);
	json_open("mapped", '[');
	for (i = 0; i < blas_objects.count; i++)
		json_text(NULL, base_name(blas_objects.path[i]));
	json_close(']');
	json_open("environment", '{');
	write_variables(blas_variables);
	for (i = 0; i < FAMILIES; i++)
		write_variables(blas_families[i].chosen_by);
	json_close('}');
	json_close('}');
}

#include "kernel_choice.h"

#include "../../harness/error.h"
#include "../../harness/job/ranks.h"
#include "../../harness/json.h"

#include <errno.h>

enum { FILE_MOST = 16384 };

static const char SCHEMA[] = "membw-kernels-1";
static const char SAVE_HINT[] = "'stream --tune --save-kernels FILE' writes one";

static FILE *to_save;
static const char *path_of_saved;

static void must_run_here(const struct variant *variant)
{
	char name[VARIANT_NAME_MAX];

	if (variant->compiled && !variants_runs_here(variant->compiled))
		die("variant '%s' is not supported on this CPU",
		    "'stream --list-variants' lists those that are, '--tune' finds the best",
		    variants_name(variant, name));
}

/* The text behind "key": in a file of ours; 0 where there is none that fits. */
static int read_text(const char *json, const char *key, char *value, size_t most)
{
	char pattern[64];
	const char *at = json;

	snprintf(pattern, sizeof(pattern), "\"%s\" : \"%%%zu[^\"]\"%%n", key, most - 1);
	for (; (at = strchr(at, '"')) != NULL; at++) {
		int used = 0;

		if (sscanf(at, pattern, value, &used) == 1 && used)
			return 1;
	}
	return 0;
}

/* What the file says of one kernel; nothing has to be said of one that has no variant. */
static void read_variant(struct variant *variant, int kernel, const char *path, const char *json)
{
	char text[VARIANT_NAME_MAX];

	if (!read_text(json, kernels[kernel].name, text, sizeof(text))) {
		if (!variants_has(kernel))
			return;
		die("'%s' has no variant for '%s'", SAVE_HINT, path, kernels[kernel].name);
	}
	if (!variants_parse(variant, text) || (variant->compiled && !variants_has(kernel)))
		die("'%s': '%s' is no variant of this program", VARIANTS_HINT, path, text);
	must_run_here(variant);
}

static void read_file(struct kernel_choice *choice, const char *path, FILE *file)
{
	static char json[FILE_MOST];
	char schema[64];
	size_t size = fread(json, 1, sizeof(json) - 1, file);
	int k;

	fclose(file);
	json[size] = '\0';
	if (!read_text(json, "schema", schema, sizeof(schema)) || strcmp(schema, SCHEMA) != 0)
		die("'%s' is not a file of --save-kernels (%s)", SAVE_HINT, path, SCHEMA);
	for (k = 0; k < KERNELS; k++)
		read_variant(&choice->of[k], k, path, json);
}

void choice_read(struct kernel_choice *choice, const char *requested)
{
	struct variant variant;
	FILE *file;
	int k;

	if (!requested || strcmp(requested, "standard") == 0 || strcmp(requested, "tuned") == 0)
		return;
	choice->tuned = 1;
	if (variants_parse(&variant, requested)) {
		choice->from = "name";
		must_run_here(&variant);
		for (k = 0; k < KERNELS; k++)
			if (variants_has(k))
				choice->of[k] = variant;
		return;
	}
	choice->from = "file";
	file = fopen(requested, "r");
	if (!file)
		die("'--kernels %s' is neither standard, tuned, a variant nor a file: %s",
		    VARIANTS_HINT, requested, strerror(errno));
	read_file(choice, requested, file);
}

void choice_open(const char *path)
{
	static const char hint[] =
		"give '--save-kernels' a file in a folder that exists and may be written";

	if (!path || ranks_me() > 0)
		return;
	path_of_saved = path;
	to_save = fopen(path, "w");
	if (!to_save)
		die("cannot write '%s': %s", hint, path, strerror(errno));
}

void choice_save(const struct kernel_choice *choice)
{
	char name[VARIANT_NAME_MAX];
	int k, failed;

	if (!to_save)
		return;
	json_begin(to_save);
	json_open(NULL, '{');
	json_text("schema", SCHEMA);
	json_open("kernels", '{');
	for (k = 0; k < KERNELS; k++)
		json_text(kernels[k].name, variants_name(&choice->of[k], name));
	json_close('}');
	json_close('}');
	putc('\n', to_save);
	failed = ferror(to_save);
	failed |= fclose(to_save) != 0;
	if (failed)
		die("'%s' is not complete: %s", "is the disk full?", path_of_saved,
		    strerror(errno));
}

void choice_run(const struct kernel_choice *choice, int kernel, const struct arrays *arrays)
{
	if (choice->of[kernel].compiled)
		variants_run(&choice->of[kernel], kernel, arrays);
	else
		kernels[kernel].run(arrays);
}

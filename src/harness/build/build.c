#include "build.h"

#include "../json.h"
#include "../sysfile.h"
#include "own_file.h"

enum { BUILD_FILE_MOST = 1 << 18, BUILD_WORDS_MOST = 1 << 16, BUILD_PATH = 4096 + 64 };

static struct {
	int is_read;
	struct own_file own;
	char text[BUILD_FILE_MOST]; /* of BINARY.json */
	char unknown[2 * BUILD_PATH];
} build;

/* --- BINARY.json --- */

/* Behind the string that begins at TEXT. */
static const char *build_after_string(const char *text)
{
	for (text++; *text && *text != '"'; text++)
		if (*text == '\\' && text[1])
			text++;
	return *text ? text + 1 : text;
}

/* The value of a key of the object itself, not of one within it; NULL where there is none. */
static const char *build_value(const char *key)
{
	const size_t length = strlen(key);
	const char *at = build.text;
	int depth = 0;

	while (*at) {
		const char *const start = at;

		at = *at == '"' ? build_after_string(at) : at + 1;
		if (*start == '{' || *start == '[')
			depth++;
		else if (*start == '}' || *start == ']')
			depth--;
		else if (*start == '"' && depth == 1 && (size_t)(at - start) == length + 2 &&
			 memcmp(start + 1, key, length) == 0 && at[strspn(at, " \n")] == ':') {
			at += strspn(at, " \n:");
			return at;
		}
	}
	return NULL;
}

/* The text of the string that begins at FROM, cut where SIZE ends; a letter beyond ASCII becomes
 * a question mark, as in the record. */
static void build_decode(char *text, size_t size, const char *from)
{
	size_t used = 0;

	for (from++; *from && *from != '"' && used + 1 < size; from++) {
		char letter = *from;

		if (letter == '\\' && from[1] == 'u') {
			letter = '?';
			from += strlen(from) > 5 ? 5 : 1;
		} else if (letter == '\\' && from[1]) {
			letter = *++from;
		}
		text[used++] = letter;
	}
	text[used] = '\0';
}

/* "" where the file has no such string. */
static const char *build_string(const char *key, char *text, size_t size)
{
	const char *const value = build_value(key);

	*text = '\0';
	if (value && *value == '"')
		build_decode(text, size, value);
	return text;
}

/* --- where it lies --- */

static int build_read_file(const char *path)
{
	const size_t size = sysfile_bytes(build.text, sizeof(build.text) - 1, path);

	build.text[size] = '\0';
	return size > 0;
}

/* Beside the program, as make writes it; in ../share/membw, as Spack does. */
static int build_find(char path[BUILD_PATH])
{
	const char *const own = build.own.path, *const name = strrchr(own, '/');
	const char *folder = name;

	snprintf(path, BUILD_PATH, "%s.json", own);
	if (!name || build_read_file(path))
		return name != NULL;
	while (folder > own && *--folder != '/')
		continue;
	snprintf(path, BUILD_PATH, "%.*s/share/membw/%s.json", (int)(folder - own), own, name + 1);
	return build_read_file(path);
}

/* By the checksum of the code; of the whole file, where no objcopy could read that. */
static int build_is_own(void)
{
	char sum[SHA256_TEXT];

	build_string("code_sha256", sum, sizeof(sum));
	if (*sum)
		return strcmp(sum, build.own.code_sha256) == 0;
	build_string("binary_sha256", sum, sizeof(sum));
	return *sum && strcmp(sum, build.own.binary_sha256) == 0;
}

static void build_read(void)
{
	char path[BUILD_PATH] = "";

	build.is_read = 1;
	own_file_read(&build.own);
	if (!build_find(path)) {
		snprintf(build.unknown, sizeof(build.unknown),
			 "no '%s.json', as make and Spack "
			 "write it",
			 build.own.path);
		return;
	}
	if (build_is_own())
		return;
	*build.text = '\0';
	snprintf(build.unknown, sizeof(build.unknown), "'%s' is of another program than '%s'",
		 path, build.own.path);
}

/* Why the build is not known, NULL: it is known.  The first call reads the files. */
static const char *build_unknown(void)
{
	if (!build.is_read)
		build_read();
	return *build.unknown ? build.unknown : NULL;
}

/* --- the record --- */

/* The compiler, as it says itself; "gcc 12.2.0". */
static const char *build_compiler(void)
{
	static char text[128];

#if defined(__INTEL_LLVM_COMPILER)
	snprintf(text, sizeof(text), "icx %d", __INTEL_LLVM_COMPILER);
#elif defined(__INTEL_COMPILER)
	snprintf(text, sizeof(text), "icc %d", __INTEL_COMPILER);
#elif defined(__clang__)
	snprintf(text, sizeof(text), "clang %s", __clang_version__);
#elif defined(__GNUC__)
	snprintf(text, sizeof(text), "gcc %s", __VERSION__);
#endif
	text[strcspn(text, "(")] = '\0';
	while (*text && text[strlen(text) - 1] == ' ')
		text[strlen(text) - 1] = '\0';
	return text;
}

/* Names of files say where something lay, not how it was compiled. */
static int build_is_flag(const char *word)
{
	return *word == '-' && word[1] != 'I' && word[1] != 'L' && word[1] != 'l' &&
	       strncmp(word, "-Wl,", 4) != 0 && strcmp(word, "-o") != 0;
}

static void build_append(char *line, const char *word)
{
	const size_t used = strlen(line), size = strlen(word) + 1;

	if (used + 1 + size > BUILD_WORDS_MOST)
		return;
	line[used] = ' ';
	memcpy(line + used + (used > 0), word, size);
}

/* "compile_line", all words of it, and "flags", those that say how. */
static void build_write_line(void)
{
	static char line[BUILD_WORDS_MOST], flags[BUILD_WORDS_MOST], word[BUILD_WORDS_MOST];
	const char *at = build_value("compile_line");

	while (at && *at && *at != ']')
		if (*at == '"') {
			build_decode(word, sizeof(word), at);
			at = build_after_string(at);
			build_append(line, word);
			if (build_is_flag(word))
				build_append(flags, word);
		} else {
			at++;
		}
	json_text("compile_line", line);
	json_text("flags", flags);
}

void build_write(void)
{
	static const char *const keys[] = { "preset", "built_with", "source_sha256",
					    "target_cpu" };
	static char text[BUILD_WORDS_MOST];
	int i;

	json_open("build", '{');
	json_text("compiler", build_compiler());
#ifdef _OPENMP
	json_count("openmp", _OPENMP);
#else
	json_text("openmp", NULL);
#endif
	json_text("unknown", build_unknown());
	for (i = 0; i < 4; i++)
		json_text(keys[i], build_string(keys[i], text, sizeof(text)));
	build_write_line();
	json_text("spack_hash", build_string("dag_hash", text, sizeof(text)));
	json_text("code_sha256", build.own.code_sha256);
	json_text("binary_sha256", build.own.binary_sha256);
	json_close('}');
}

void build_print(FILE *out)
{
	if (build_unknown())
		fprintf(out, "Build: not known: %s\n", build_unknown());
}

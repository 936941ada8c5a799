#include "own_file.h"

#include "../sysfile.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const own_file_sections[] = { ".text", ".rodata" };

/* Whether SIZE bytes lie in the file from OFFSET on. */
static int own_file_has(size_t length, size_t offset, size_t size)
{
	return offset <= length && size <= length - offset;
}

/* The headers of the sections, their number and that with the names; NULL: not one of this
 * machine's. */
static const ElfW(Shdr) *
	own_file_headers(const char *file, size_t length, const ElfW(Ehdr) * head)
{
	const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;

	if (length < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != class || head->e_shentsize != sizeof(ElfW(Shdr)) ||
	    head->e_shstrndx >= head->e_shnum ||
	    !own_file_has(length, head->e_shoff, head->e_shnum * sizeof(ElfW(Shdr))))
		return NULL;
	return (const void *)(file + head->e_shoff);
}

/* The section of that name; NULL where there is none. */
static const ElfW(Shdr) * own_file_section(const char *file, size_t length, const char *name)
{
	const ElfW(Ehdr) *const head = (const void *)file;
	const ElfW(Shdr) *const all = own_file_headers(file, length, head);
	const size_t size = strlen(name) + 1;
	int i;

	for (i = 0; all && i < head->e_shnum; i++) {
		const size_t at = all[head->e_shstrndx].sh_offset + all[i].sh_name;

		if (own_file_has(length, at, size) && memcmp(file + at, name, size) == 0)
			return own_file_has(length, all[i].sh_offset, all[i].sh_size) ? &all[i]
										      : NULL;
	}
	return NULL;
}

static void own_file_code(char text[SHA256_TEXT], const char *file, size_t length)
{
	const ElfW(Shdr) *section = own_file_section(file, length, own_file_sections[0]);
	char line[64];
	struct sha256 sum;
	int i;

	if (!section || !section->sh_size)
		return;
	sha256_begin(&sum);
	for (i = 0; i < 2; i++) {
		const size_t size = section ? section->sh_size : 0;

		sha256_add(&sum, line,
			   (size_t)snprintf(line, sizeof(line), "%s %zu\n", own_file_sections[i],
					    size));
		sha256_add(&sum, section ? file + section->sh_offset : "", size);
		section = own_file_section(file, length, own_file_sections[1]);
	}
	sha256_end(&sum, text);
}

static void own_file_checksums(struct own_file *own, const char *file, size_t length)
{
	struct sha256 sum;

	sha256_begin(&sum);
	sha256_add(&sum, file, length);
	sha256_end(&sum, own->binary_sha256);
	own_file_code(own->code_sha256, file, length);
}

void own_file_read(struct own_file *own)
{
	static const char self[] = "/proc/self/exe";
	const ssize_t size = readlink(self, own->path, sizeof(own->path) - 1);
	const int file = sysfile_descriptor(self);
	struct stat is;
	void *bytes;

	own->path[size > 0 ? size : 0] = '\0';
	*own->binary_sha256 = *own->code_sha256 = '\0';
	if (file < 0)
		return;
	if (fstat(file, &is) == 0 && is.st_size > 0) {
		bytes = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		if (bytes != MAP_FAILED) {
			own_file_checksums(own, bytes, (size_t)is.st_size);
			munmap(bytes, (size_t)is.st_size);
		}
	}
	close(file);
}

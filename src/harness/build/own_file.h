/*
 * own_file: the file of the program that runs, and its checksums.
 */
#pragma once

#include "sha256.h"

struct own_file {
	char path[4096];                 /* "": not known */
	char binary_sha256[SHA256_TEXT]; /* of the whole file; "": it could not be read */
	/* of .text and .rodata alone, as src/membw/presets/provenance.py has it: RPATH, build
	 * id and debug information are left out; "": no ELF of this machine's word size */
	char code_sha256[SHA256_TEXT];
};

LOCAL void own_file_read(struct own_file *own);

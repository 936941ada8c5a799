/*
 * build: what this program was built by, as make or Spack wrote it next to it: BINARY.json, or
 * ../share/membw/NAME.json.
 *
 * That file counts where it has the checksum of this program's code; else the build is not known,
 * and the record says why.  The checksums of the program itself are always known.
 */
#pragma once

#include "../config.h"

/* Writes "build" of the record. */
LOCAL void build_write(void);

/* "Build: not known: ...", or nothing. */
LOCAL void build_print(FILE *out);

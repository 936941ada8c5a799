/*
 * named_file: a file that the caller named, to read or to write.
 */
#pragma once

#include "config.h"

/* As fopen() with "r" or "w"; NULL where it cannot be opened.  To open a named pipe is to wait for
 * its other end, and nobody may come: then the program ends with HINT after ten seconds. */
LOCAL FILE *named_file_open(const char *path, const char *mode, const char *hint);

/*
 * streams: stdin, stdout and stderr as the caller left them.
 */
#pragma once

#include "config.h"

/* A stream that the shell closed leaves its number to the next file that is opened: the table
 * must not end up in the record.  Before any file is opened. */
LOCAL void streams_fill_closed(void);

/* Nonzero if stdout took all of it, as a full disk does not; else stderr says so. */
LOCAL int streams_took_all(void);

/*
 * signs: of a figure; UTF-8 where the locale says so, else ASCII.
 *
 * By the variables and not by setlocale(), which fails where a locale is named and not installed.
 * LC_CTYPE=C.UTF-8 next to LANG=C is Python's doing (PEP 538), of ReFrame's among others.
 */
#pragma once

#include "config.h"

/* "±" or "+-". */
LOCAL const char *sign_plus_minus(void);

/* "≥" or ">=". */
LOCAL const char *sign_at_least(void);

/* "≤" or "<=". */
LOCAL const char *sign_at_most(void);

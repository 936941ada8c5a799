/*
 * loaded: how slow memory gets when it is busy.
 */
#include "../harness/harness.c"

#include "curve.c"
#include "generators.c"
#include "mixes.c"
#include "output.c"
#include "sweep.c"

#include "main.c"

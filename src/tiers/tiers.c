/*
 * tiers: how fast each memory of a node is from each of its CPUs.
 */
#include "../harness/harness.c"

#include "cell.c"
#include "matrix.c"
#include "output.c"

#include "main.c"

/*
 * device: how fast the memory of a card is, and the way to it.
 */
#include "../harness/harness.c"

#include "card.c"
#include "driver.c"
#include "kernels.c"
#include "opencl.c"
#include "output.c"
#include "rounds.c"
#include "shape.c"
#include "size.c"
#include "transfers.c"

#include "main.c"

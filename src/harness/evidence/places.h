/*
 * places: the CPUs that OMP_PLACES and GOMP_CPU_AFFINITY name.
 *
 * A runtime leaves out a CPU that is not there, some without a message, and binds to the rest.
 */
#pragma once

#include "../machine/cpuset.h"

/* The first CPU of "{0,1},{4:2:8}:4:16" that is not ONLINE, -1: none is missing.  Names as
 * "cores", and places that are taken away ("!{3}"), name none. */
LOCAL int places_first_missing(const char *places, const struct cpuset *online);

/* Whether the places have several cores by what they are: sockets, domains, lists of CPUs. */
LOCAL int places_are_wide(const char *places);

/* The first CPU of "0 3 1-2 4-15:2" that is not ONLINE, -1: none is missing. */
LOCAL int affinity_first_missing(const char *list, const struct cpuset *online);

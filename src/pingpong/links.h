/*
 * links: every pair of nodes, one rank on each.
 *
 * In rounds of disjoint pairs all ranks play at the same time; before each round they wait for
 * each other.  Both sides keep what was measured, so that the links of a node whose record is
 * lost are in the records of other nodes.  A link has reasons of its own: one of many does not
 * discredit a node.
 */
#pragma once

#include "../harness/machine/cpuset.h"

/* All rounds, BUDGET seconds for each size of a link; this rank on one of these CPUs. */
void links_run(const struct cpuset *cpus, double budget);

/* Verdict, metrics and table of this rank's links. */
void links_conclude(void);

/* Their part of the record. */
void links_write(void);

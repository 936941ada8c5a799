/*
 * memory_side: caches that belong to memory, not to CPUs.
 *
 * HBM in front of DDR (Xeon Max and Knights Landing in cache mode) or DRAM in
 * front of Optane.  Data goes through it, so it is the last level, and the
 * rule of four times the caches means it.  Linux shows it where the firmware
 * does (ACPI HMAT): node/nodeN/memory_side_cache/indexM/size, in bytes.
 */
#pragma once

#include "cpuset.h"

/* Bytes of the caches in front of these NUMA domains' memory, 0 for none. */
LOCAL size_t memory_side_bytes(const struct cpuset *domains);

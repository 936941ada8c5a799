/*
 * cpu_name: what the kernel calls the CPU.  x86 has a `model name`, POWER, RISC-V and LoongArch
 * have other words for it, and Arm two numbers, of which the common cores have their names here.
 */
#pragma once

#include "../sysfile.h"

/* 0: /proc/cpuinfo names none. */
LOCAL int cpu_name(char name[SYSLINE_MAX]);

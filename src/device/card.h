/*
 * card: the devices of this node, and what is known of the one that is measured.
 *
 * Cards are GPUs and accelerators; CPUs only where they are requested.  They are numbered by their
 * PCI addresses, so that a number is a slot; a card that two drivers show is one.
 */
#pragma once

#include "opencl.h"

enum { CARDS_MAX = 64, CARD_TEXT = 256 };

struct card {
	int index, count; /* its number, and how many this node has */
	cl_platform platform;
	cl_device device;
	cl_context context;
	cl_queue queue;
	char name[CARD_TEXT], vendor[CARD_TEXT], driver[CARD_TEXT], version[CARD_TEXT],
		by[CARD_TEXT]; /* the platform: whose OpenCL it is */
	char uuid[40], pci[16];
	cl_bits type;
	unsigned long long memory, largest, cache; /* bytes; largest: of one buffer */
	size_t local_most;                         /* work-items of a group */
	unsigned units, clock_mhz;                 /* the highest clock */
	int has_ecc, has_double, is_available;
	int domain;                     /* NUMA, of its slot; -1: not known */
	unsigned long long others_took; /* bytes of its memory that were not free before we took
					   any; 0: not known */
};

/* All of them, in order; returns how many. */
int card_all(struct card cards[CARDS_MAX], int cpus);

/* Number INDEX, with a context and a queue; dies where it is not there: no driver, no permission,
 * no such card. */
void card_open(struct card *card, int index, int cpus);

int card_is_cpu(const struct card *card);

/* Of one device or several; dies where there is none. */
cl_context card_context(const cl_device *devices, unsigned count);
cl_queue card_queue(cl_context context, cl_device device);

/* A buffer, NULL where there is no room for it. */
cl_mem card_buffer(cl_context context, cl_bits flags, size_t bytes);

/* "0 NVIDIA H200 0000:4e:00.0 GPU-...", one per line. */
void card_list(int cpus);

/* Writes "device" of the record. */
void card_write(const struct card *card);

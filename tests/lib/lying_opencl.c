/*
 * lying_opencl: a libOpenCL.so.1 for tests.  It passes each call on to the real one, and lies as
 * $LIE says, words with commas.
 *
 * gpu: each device says that it is a GPU.
 * aborts, exits: it ends the process.  gone: there is no driver.
 * hidden: its devices may not be seen.
 * taken: the device is not available.  busy: half of its memory is not free.
 * single: it has no double precision.  lost: it fails after 30 waits.
 * nothing: each kernel has no elements.  flip: a bit of an element flips after 40 launches.
 * fast: its clock counts twice the time.  late: its clock counts half the time.
 * slow: device 1 takes twice as long.
 * named: device N is "NVIDIA H200", has a UUID and is at PCI address 0000:0N+1:00.0.
 *
 * $KERNEL, "old=>new": the driver compiles another text.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long bits;
static void *devices[64], *memory, *first; /* first: of two launches that are one */
static unsigned device_count;
static int waits, launches;

static int lies(const char *word)
{
	const char *const all = getenv("LIE"), *const at = all ? strstr(all, word) : NULL;

	return at && (at[strlen(word)] == '\0' || at[strlen(word)] == ',');
}

static void *real(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen(getenv("REAL_OPENCL"), RTLD_NOW | RTLD_LOCAL);
	return library ? dlsym(library, name) : NULL;
}

/* The real function of this name, by the type of the stand-in itself. */
#define REAL(name) ((__typeof__(&name))real(#name))

#define PASS(name, parameters, arguments)    \
	int name parameters;                 \
	int name parameters                  \
	{                                    \
		return REAL(name) arguments; \
	}
#define PASS_POINTER(name, parameters, arguments) \
	void *name parameters;                    \
	void *name parameters                     \
	{                                         \
		return REAL(name) arguments;      \
	}

PASS(clGetPlatformInfo, (void *a, unsigned b, size_t c, void *d, size_t *e), (a, b, c, d, e))
PASS_POINTER(clCreateContext, (const long *a, unsigned b, const void *c, void *d, void *e, int *f),
	     (a, b, c, d, e, f))
PASS(clReleaseContext, (void *a), (a))
PASS_POINTER(clCreateCommandQueue, (void *a, void *b, bits c, int *d), (a, b, c, d))
PASS(clReleaseCommandQueue, (void *a), (a))
PASS(clBuildProgram, (void *a, unsigned b, const void *c, const char *d, void *e, void *f),
     (a, b, c, d, e, f))
PASS(clGetProgramBuildInfo, (void *a, void *b, unsigned c, size_t d, void *e, size_t *f),
     (a, b, c, d, e, f))
PASS_POINTER(clCreateKernel, (void *a, const char *b, int *c), (a, b, c))
PASS_POINTER(clCreateBuffer, (void *a, bits b, size_t c, void *d, int *e), (a, b, c, d, e))
PASS(clReleaseMemObject, (void *a), (a))
PASS(clEnqueueReadBuffer,
     (void *a, void *b, unsigned c, size_t d, size_t e, void *f, unsigned g, const void *h,
      void *i),
     (a, b, c, d, e, f, g, h, i))
PASS(clEnqueueWriteBuffer,
     (void *a, void *b, unsigned c, size_t d, size_t e, const void *f, unsigned g, const void *h,
      void *i),
     (a, b, c, d, e, f, g, h, i))
PASS(clEnqueueCopyBuffer,
     (void *a, void *b, void *c, size_t d, size_t e, size_t f, unsigned g, const void *h, void *i),
     (a, b, c, d, e, f, g, h, i))
PASS_POINTER(clEnqueueMapBuffer,
	     (void *a, void *b, unsigned c, bits d, size_t e, size_t f, unsigned g, const void *h,
	      void *i, int *j),
	     (a, b, c, d, e, f, g, h, i, j))
PASS(clEnqueueUnmapMemObject, (void *a, void *b, void *c, unsigned d, const void *e, void *f),
     (a, b, c, d, e, f))
PASS(clReleaseEvent, (void *a), (a))

int clGetPlatformIDs(unsigned room, void **of, unsigned *found);
int clGetPlatformIDs(unsigned room, void **of, unsigned *found)
{
	if (lies("aborts"))
		abort();
	if (lies("exits"))
		exit(1);
	return lies("gone") ? -1001 : REAL(clGetPlatformIDs)(room, of, found);
}

int clGetDeviceIDs(void *platform, bits type, unsigned room, void **of, unsigned *found);
int clGetDeviceIDs(void *platform, bits type, unsigned room, void **of, unsigned *found)
{
	int status;

	if (lies("hidden"))
		return -1;
	status = REAL(clGetDeviceIDs)(platform, type, room, of, found);
	if (status == 0)
		memcpy(devices, of, (device_count = *found) * sizeof(*devices));
	return status;
}

static unsigned number_of(const void *device)
{
	unsigned d = 0;

	while (d < device_count && devices[d] != device)
		d++;
	return d;
}

static int answer(const void *is, size_t size, size_t room, void *value, size_t *got)
{
	if (value && room < size)
		return -30;
	if (value)
		memcpy(value, is, size);
	if (got)
		*got = size;
	return 0;
}

int clGetDeviceInfo(void *device, unsigned what, size_t room, void *value, size_t *got);
int clGetDeviceInfo(void *device, unsigned what, size_t room, void *value, size_t *got)
{
	const unsigned address[4] = { 0, number_of(device) + 1, 0, 0 };
	const int status = REAL(clGetDeviceInfo)(device, what, room, value, got);
	bits is = 0;

	if (what == 0x1000 && lies("gpu"))
		return answer((is = 4, &is), 8, room, value, got);
	if (what == 0x1027 && lies("taken"))
		return answer(&is, 4, room, value, got);
	if (what == 0x1032 && lies("single"))
		return answer(&is, 8, room, value, got);
	if (what == 0x4039 && lies("busy")) {
		REAL(clGetDeviceInfo)(device, 0x101F, 8, &is, NULL);
		return answer((is /= 2048, &is), 8, room, value, got);
	}
	if (what == 0x102B && lies("named"))
		return answer("NVIDIA H200", 12, room, value, got);
	if (what == 0x410F && lies("named"))
		return answer(address, sizeof(address), room, value, got);
	if (what == 0x106A && lies("named"))
		return answer(address[1] == 1 ? "0123456789abcdef" : "fedcba9876543210", 16, room,
			      value, got);
	return status;
}

void *clCreateProgramWithSource(void *context, unsigned count, const char **texts,
				const size_t *lengths, int *status);
void *clCreateProgramWithSource(void *context, unsigned count, const char **texts,
				const size_t *lengths, int *status)
{
	char *const words = getenv("KERNEL") ? strdup(getenv("KERNEL")) : NULL;
	char *const by = words ? strstr(words, "=>") : NULL;
	char *const text = malloc(strlen(*texts) + (words ? strlen(words) : 0) + 1);
	const char *at = *texts, *const from = by ? (*by = '\0', words) : "";
	void *made;

	*text = '\0';
	if (by && strstr(at, from)) {
		sprintf(text, "%.*s%s", (int)(strstr(at, from) - at), at, by + 2);
		at = strstr(at, from) + strlen(from);
	} else if (by) {
		fprintf(stderr, "no '%s' in the kernels\n", from);
		exit(99);
	}
	strcat(text, at);
	at = text;
	made = REAL(clCreateProgramWithSource)(context, count, &at, lengths, status);
	free(text);
	free(words);
	return made;
}

int clSetKernelArg(void *kernel, unsigned place, size_t size, const void *value);
int clSetKernelArg(void *kernel, unsigned place, size_t size, const void *value)
{
	if (place == 0)
		memcpy(&memory, value, sizeof(memory));
	return REAL(clSetKernelArg)(kernel, place, size, value);
}

int clEnqueueNDRangeKernel(void *queue, void *kernel, unsigned dimensions, const size_t *offset,
			   const size_t *global, const size_t *local, unsigned count,
			   const void *wait, void **event);
int clEnqueueNDRangeKernel(void *queue, void *kernel, unsigned dimensions, const size_t *offset,
			   const size_t *global, const size_t *local, unsigned count,
			   const void *wait, void **event)
{
	const bits none = 0;
	void *device = NULL;
	int status;

	first = NULL;
	if (event && lies("nothing"))
		REAL(clSetKernelArg)(kernel, 5, sizeof(none), &none);
	((int (*)(void *, unsigned, size_t, void *, size_t *))real("clGetCommandQueueInfo"))(
		queue, 0x1091, sizeof(device), &device, NULL);
	/* each kernel may be done twice; the first one's start counts */
	if (event && lies("slow") && number_of(device) == 1)
		REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local,
					     count, wait, &first);
	status = REAL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local,
					      count, wait, event);
	launches = event ? launches + 1 : 0; /* since the arrays were begun */
	if (launches == 40 && lies("flip")) {
		unsigned char byte = 0;

		REAL(clEnqueueReadBuffer)(queue, memory, 1, 12345, 1, &byte, 0, NULL, NULL);
		byte ^= 1;
		REAL(clEnqueueWriteBuffer)(queue, memory, 1, 12345, 1, &byte, 0, NULL, NULL);
	}
	return status;
}

int clFinish(void *queue);
int clFinish(void *queue)
{
	return ++waits > 30 && lies("lost") ? -5 : REAL(clFinish)(queue);
}

int clGetEventProfilingInfo(void *event, unsigned what, size_t room, void *value, size_t *got);
int clGetEventProfilingInfo(void *event, unsigned what, size_t room, void *value, size_t *got)
{
	bits began = 0, moment = 0;
	int status;

	REAL(clGetEventProfilingInfo)(first ? first : event, 0x1282, 8, &began, NULL);
	status = REAL(clGetEventProfilingInfo)(event, what, room, value, got);
	memcpy(&moment, value, sizeof(moment));
	if (what == 0x1282)
		moment = began;
	else if (lies("fast"))
		moment = began + 2 * (moment - began);
	else if (lies("late"))
		moment = began + (moment - began) / 2;
	memcpy(value, &moment, sizeof(moment));
	return status;
}

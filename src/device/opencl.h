/*
 * opencl: what drives a card, loaded when the program starts.
 *
 * A node needs no compiler, header or library for cards, and the compile line is the preset's:
 * libOpenCL.so.1 is opened by dlopen(), its functions are declared here, and the driver compiles
 * the kernels from text.  Numbers and prototypes are those of the Khronos specification, of OpenCL
 * 1.1 to 3.0, and of the extensions that are named.
 */
#pragma once

#include "../harness/config.h"

typedef struct cl_platform_of *cl_platform;
typedef struct cl_device_of *cl_device;
typedef struct cl_context_of *cl_context;
typedef struct cl_queue_of *cl_queue;
typedef struct cl_program_of *cl_program;
typedef struct cl_kernel_of *cl_kernel;
typedef struct cl_mem_of *cl_mem;
typedef struct cl_event_of *cl_event;
typedef unsigned long long cl_bits;

enum {
	CL_SUCCESS = 0,
	CL_NO_MEMORY = -4, /* CL_MEM_OBJECT_ALLOCATION_FAILURE */
	CL_OUT_OF_RESOURCES = -5,
	CL_BUILD_PROGRAM_FAILURE = -11,
	CL_INVALID_GROUP_SIZE = -54,
	CL_INVALID_BUFFER_SIZE = -61
};

enum {
	CL_TYPE_CPU = 1 << 1,
	CL_TYPE_GPU = 1 << 2,
	CL_TYPE_ACCELERATOR = 1 << 3,
	CL_QUEUE_PROFILING = 1 << 1,
	CL_MEM_READ_WRITE = 1 << 0,
	CL_MEM_ALLOC_HOST_PTR = 1 << 4,
	CL_MAP_READ_WRITE = 3,
	CL_PROFILING_START = 0x1282,
	CL_PROFILING_END = 0x1283,
	CL_BUILD_LOG = 0x1183,
	CL_PLATFORM_NAME = 0x0902
};

/* Result, name without its "cl", parameters. */
#define OPENCL_FUNCTIONS(F)                                                                      \
	F(int, GetPlatformIDs, (unsigned, cl_platform *, unsigned *))                            \
	F(int, GetPlatformInfo, (cl_platform, unsigned, size_t, void *, size_t *))               \
	F(int, GetDeviceIDs, (cl_platform, cl_bits, unsigned, cl_device *, unsigned *))          \
	F(int, GetDeviceInfo, (cl_device, unsigned, size_t, void *, size_t *))                   \
	F(cl_context, CreateContext,                                                             \
	  (const long *, unsigned, const cl_device *,                                            \
	   void (*)(const char *, const void *, size_t, void *), void *, int *))                 \
	F(int, ReleaseContext, (cl_context))                                                     \
	F(cl_queue, CreateCommandQueue, (cl_context, cl_device, cl_bits, int *))                 \
	F(int, ReleaseCommandQueue, (cl_queue))                                                  \
	F(cl_program, CreateProgramWithSource,                                                   \
	  (cl_context, unsigned, const char **, const size_t *, int *))                          \
	F(int, BuildProgram,                                                                     \
	  (cl_program, unsigned, const cl_device *, const char *, void (*)(cl_program, void *),  \
	   void *))                                                                              \
	F(int, GetProgramBuildInfo, (cl_program, cl_device, unsigned, size_t, void *, size_t *)) \
	F(cl_kernel, CreateKernel, (cl_program, const char *, int *))                            \
	F(int, SetKernelArg, (cl_kernel, unsigned, size_t, const void *))                        \
	F(cl_mem, CreateBuffer, (cl_context, cl_bits, size_t, void *, int *))                    \
	F(int, ReleaseMemObject, (cl_mem))                                                       \
	F(int, EnqueueNDRangeKernel,                                                             \
	  (cl_queue, cl_kernel, unsigned, const size_t *, const size_t *, const size_t *,        \
	   unsigned, const cl_event *, cl_event *))                                              \
	F(int, EnqueueReadBuffer,                                                                \
	  (cl_queue, cl_mem, unsigned, size_t, size_t, void *, unsigned, const cl_event *,       \
	   cl_event *))                                                                          \
	F(int, EnqueueWriteBuffer,                                                               \
	  (cl_queue, cl_mem, unsigned, size_t, size_t, const void *, unsigned, const cl_event *, \
	   cl_event *))                                                                          \
	F(int, EnqueueCopyBuffer,                                                                \
	  (cl_queue, cl_mem, cl_mem, size_t, size_t, size_t, unsigned, const cl_event *,         \
	   cl_event *))                                                                          \
	F(void *, EnqueueMapBuffer,                                                              \
	  (cl_queue, cl_mem, unsigned, cl_bits, size_t, size_t, unsigned, const cl_event *,      \
	   cl_event *, int *))                                                                   \
	F(int, EnqueueUnmapMemObject,                                                            \
	  (cl_queue, cl_mem, void *, unsigned, const cl_event *, cl_event *))                    \
	F(int, Finish, (cl_queue))                                                               \
	F(int, GetEventProfilingInfo, (cl_event, unsigned, size_t, void *, size_t *))            \
	F(int, ReleaseEvent, (cl_event))

/* clang-format off */
#define OPENCL_POINTER(result, name, parameters) result(*name) parameters;
/* clang-format on */
struct opencl {
	OPENCL_FUNCTIONS(OPENCL_POINTER)
};

extern struct opencl cl;

/* Fills the table; dies where there is no such library, or it lacks a function. */
void opencl_load(void);

/* Dies of what CALL answered: the card is gone, or has no room; nothing is measured then. */
void opencl_check(int status, const char *call);

/* Seconds by the host's clock, and by the device's own (its event). */
struct timing {
	double host, device;
};

/* Whatever was put into the queue since BEGAN (of clock_now()), with EVENT, has ended: how long it
 * took. */
struct timing opencl_wait(cl_queue queue, cl_event event, double began);

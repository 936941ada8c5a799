#include "opencl.h"

#include "../harness/clock.h"
#include "../harness/error.h"

#include <dlfcn.h>

/* without -ldl a linker of before glibc 2.34 finds none */
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlerror

struct opencl cl;

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define OPENCL_ROW(result, name, parameters) { "cl" #name, offsetof(struct opencl, name) },
	OPENCL_FUNCTIONS(OPENCL_ROW)
};

static const char LOADER[] = "install the OpenCL loader (ocl-icd-libopencl1, ocl-icd) and the "
			     "card's driver with its OpenCL part";

void opencl_load(void)
{
	size_t f;
	void *library, *symbol;

	if (!dlopen || !dlsym || !dlerror)
		die("this program cannot load a driver: it was linked without dlopen()",
		    "link it with '-ldl'");
	library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		die("no OpenCL on this node: %s", LOADER, dlerror());
	for (f = 0; f < sizeof(functions) / sizeof(*functions); f++) {
		symbol = dlsym(library, functions[f].name);
		if (!symbol)
			die("libOpenCL.so.1 has no '%s'", LOADER, functions[f].name);
		memcpy((char *)&cl + functions[f].offset, &symbol, sizeof(symbol));
	}
}

void opencl_check(int status, const char *call)
{
	if (status != CL_SUCCESS)
		die("the device fails in 'cl%s', error %d%s",
		    "see the kernel's log (dmesg) and the driver's own tool (nvidia-smi, "
		    "rocm-smi)",
		    call, status,
		    status == CL_NO_MEMORY          ? ": no memory for a buffer"
		    : status == CL_OUT_OF_RESOURCES ? ": out of resources"
						    : "");
}

static double opencl_moment(cl_event event, unsigned which)
{
	unsigned long long ns = 0;

	opencl_check(cl.GetEventProfilingInfo(event, which, sizeof(ns), &ns, NULL),
		     "GetEventProfilingInfo");
	return 1e-9 * (double)ns;
}

struct timing opencl_wait(cl_queue queue, cl_event event, double began)
{
	struct timing taken;

	opencl_check(cl.Finish(queue), "Finish");
	taken.host = clock_now() - began;
	taken.device =
		opencl_moment(event, CL_PROFILING_END) - opencl_moment(event, CL_PROFILING_START);
	opencl_check(cl.ReleaseEvent(event), "ReleaseEvent");
	return taken;
}

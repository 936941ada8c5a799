#include "kernels.h"

#include "../harness/clock.h"
#include "../harness/elementary.h"
#include "../harness/error.h"
#include "../harness/verdict.h"

/* PERIOD: of the first values, a prime, so that what is off by a power of 2 differs; CHUNK:
 * elements that are read back at a time. */
enum { PERIOD = 4093, CHUNK = 512 * PERIOD, SUMS_MOST = 1 << 20 };

const char *const kernel_names[KERNELS] = { "copy", "scale", "add", "triad", "read", "write" };
static const int arrays_moved[KERNELS] = { 2, 2, 3, 3, 1, 1 };
static const char *const array_names[ARRAYS] = { "a", "b", "c" };

/* REAL, WIDE: double, double2; BITS, WIDE_BITS: ulong, ulong2; PARTS: the sum of a WIDE_BITS x. */
static const char text[] =
	"#ifdef DOUBLE\n"
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	"#endif\n"
	"#define ARGUMENTS global WIDE *restrict a, global WIDE *restrict b, \\\n"
	"	global WIDE *restrict c, global BITS *restrict sums, REAL s, ulong n\n"
	"#define EACH for (ulong i = get_global_id(0); i < n; i += get_global_size(0))\n"
	"kernel void membw_copy(ARGUMENTS) { EACH c[i] = a[i]; }\n"
	"kernel void membw_scale(ARGUMENTS) { EACH b[i] = s * c[i]; }\n"
	"kernel void membw_add(ARGUMENTS) { EACH c[i] = a[i] + b[i]; }\n"
	"kernel void membw_triad(ARGUMENTS) { EACH a[i] = b[i] + s * c[i]; }\n"
	"kernel void membw_write(ARGUMENTS) { EACH c[i] = s; }\n"
	"kernel void membw_read(ARGUMENTS)\n"
	"{\n"
	"	WIDE_BITS x = 0;\n"
	"	EACH x += AS_BITS(a[i]);\n"
	"	sums[get_global_id(0)] = PARTS + (BITS)s;\n"
	"}\n"
	"kernel void membw_begin(global REAL *a, global REAL *b, global REAL *c, ulong n)\n"
	"{\n"
	"	EACH {\n"
	"		a[i] = i % 4093 + 1;\n"
	"		b[i] = -1;\n"
	"		c[i] = -2;\n"
	"	}\n"
	"}\n";

static void build_failed(cl_program program, const struct card *card, int status)
{
	char log[700] = "";
	char *at;

	if (status != CL_BUILD_PROGRAM_FAILURE)
		opencl_check(status, "BuildProgram");
	cl.GetProgramBuildInfo(program, card->device, CL_BUILD_LOG, sizeof(log) - 1, log, NULL);
	for (at = log; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
	die("the driver of '%s' does not compile the kernels: %s",
	    "its OpenCL compiler is not whole, or too old: install it again", card->name, log);
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
	char full[32];
	int status;
	cl_kernel made;

	snprintf(full, sizeof(full), "membw_%s", name);
	made = cl.CreateKernel(program, full, &status);
	opencl_check(status, "CreateKernel");
	return made;
}

static cl_program program_of(const struct arrays *arrays, int w)
{
	static const char *const parts[WIDTHS] = { "x", "(x.x+x.y)", "(x.x+x.y+x.z+x.w)" };
	static const char *const widths[WIDTHS] = { "", "2", "4" };
	const char *const real = arrays->element == 8 ? "double" : "float";
	const char *const bits = arrays->element == 8 ? "ulong" : "uint";
	const char *source = text;
	char options[256];
	int status;
	cl_program made;

	snprintf(
		options, sizeof(options),
		"%s -DREAL=%s -DWIDE=%s%s -DBITS=%s -DWIDE_BITS=%s%s -DAS_BITS=as_%s%s -DPARTS=%s",
		arrays->element == 8 ? "-DDOUBLE" : "", real, real, widths[w], bits, bits,
		widths[w], bits, widths[w], parts[w]);
	made = cl.CreateProgramWithSource(arrays->card->context, 1, &source, NULL, &status);
	opencl_check(status, "CreateProgramWithSource");
	status = cl.BuildProgram(made, 1, &arrays->card->device, options, NULL, NULL);
	if (status != CL_SUCCESS)
		build_failed(made, arrays->card, status);
	return made;
}

void kernels_build(struct arrays *arrays, const struct card *card)
{
	cl_program program;
	int w, k;

	arrays->card = card;
	arrays->element = card->has_double ? sizeof(double) : sizeof(float);
	for (w = 0; w < WIDTHS; w++) {
		program = program_of(arrays, w);
		for (k = 0; k < KERNELS; k++)
			arrays->kernels[k][w] = kernel_of(program, kernel_names[k]);
		if (w == 0)
			arrays->begin = kernel_of(program, "begin");
	}
}

static void kernel_argument(cl_kernel kernel, unsigned place, size_t size, const void *value)
{
	opencl_check(cl.SetKernelArg(kernel, place, size, value), "SetKernelArg");
}

static int enqueue(const struct arrays *arrays, cl_kernel kernel, size_t global, size_t local,
		   cl_event *event)
{
	return cl.EnqueueNDRangeKernel(arrays->card->queue, kernel, 1, NULL, &global, &local, 0,
				       NULL, event);
}

/* Writes all of it; 0 where the device has no room, which some find out only now. */
static int begin(struct arrays *arrays)
{
	const unsigned long long n = arrays->n;
	const size_t local = arrays->card->local_most < 64 ? 1 : 64;
	int k, status;

	for (k = 0; k < ARRAYS; k++)
		kernel_argument(arrays->begin, (unsigned)k, sizeof(cl_mem), &arrays->of[k]);
	kernel_argument(arrays->begin, ARRAYS, sizeof(n), &n);
	status = enqueue(arrays, arrays->begin, (arrays->n + local - 1) / local * local, local,
			 NULL);
	if (status == CL_SUCCESS)
		status = cl.Finish(arrays->card->queue);
	if (status != CL_NO_MEMORY && status != CL_OUT_OF_RESOURCES)
		opencl_check(status, "EnqueueNDRangeKernel");
	return status == CL_SUCCESS;
}

static void give_memory_back(struct arrays *arrays)
{
	int k;

	for (k = 0; k < ARRAYS; k++)
		if (arrays->of[k])
			cl.ReleaseMemObject(arrays->of[k]);
}

void kernels_take_memory(struct arrays *arrays, size_t n)
{
	const cl_context context = arrays->card->context;
	int k, is_there = 0;

	arrays->sums = card_buffer(context, 0, SUMS_MOST * arrays->element);
	for (; n >= 4096 && arrays->sums; n = n / 2 / 4096 * 4096) {
		for (k = 0, is_there = 1; k < ARRAYS; k++) {
			arrays->of[k] = card_buffer(context, 0, n * arrays->element);
			is_there = is_there && arrays->of[k];
		}
		arrays->n = arrays->room = n;
		if (is_there && begin(arrays))
			return;
		give_memory_back(arrays);
	}
	die("no memory on '%s' for three arrays",
	    "another process holds it: wait for it, or request the card from the scheduler",
	    arrays->card->name);
}

void kernels_begin(struct arrays *arrays)
{
	if (!begin(arrays))
		opencl_check(CL_OUT_OF_RESOURCES, "EnqueueNDRangeKernel");
}

static double scalar(int kernel, int round)
{
	return kernel == SCALE   ? 3
	       : kernel == TRIAD ? -0.25
	       : kernel == WRITE ? round + 1.5
				 : round + 1;
}

static size_t global_size(const struct arrays *arrays, int kernel, const struct shape *shape)
{
	const size_t all = (arrays->n / (size_t)shape->width + shape->local - 1) / shape->local;
	size_t groups = (size_t)shape->groups * arrays->card->units;

	groups = groups && groups < all ? groups : all;
	/* read leaves a sum per work-item: few enough to weigh nothing */
	if (kernel == READ && groups > SUMS_MOST / shape->local)
		groups = SUMS_MOST / shape->local;
	return groups * shape->local;
}

static int width_index(const struct shape *shape)
{
	return shape->width / 2;
}

struct timing kernels_run(struct arrays *arrays, int kernel, const struct shape *shape, int round)
{
	const cl_kernel k = arrays->kernels[kernel][width_index(shape)];
	const unsigned long long n = arrays->n / (size_t)shape->width;
	const double s = scalar(kernel, round), cpu = clock_process() - clock_thread();
	const float single = (float)s;
	struct timing taken = { 0, 0 };
	cl_event event;
	double began;
	int a, status;

	for (a = 0; a < ARRAYS; a++)
		kernel_argument(k, (unsigned)a, sizeof(cl_mem), &arrays->of[a]);
	kernel_argument(k, 3, sizeof(cl_mem), &arrays->sums);
	kernel_argument(k, 4, arrays->element,
			arrays->element == 8 ? (const void *)&s : (const void *)&single);
	kernel_argument(k, 5, sizeof(n), &n);
	began = clock_now();
	status = enqueue(arrays, k, global_size(arrays, kernel, shape), shape->local, &event);
	if (status == CL_INVALID_GROUP_SIZE || status == CL_OUT_OF_RESOURCES)
		return taken;
	opencl_check(status, "EnqueueNDRangeKernel");
	taken = opencl_wait(arrays->card->queue, event, began);
	arrays->cpu_s += clock_process() - clock_thread() - cpu;
	arrays->wall_s += taken.host;
	return taken;
}

double kernels_bytes(const struct arrays *arrays, int kernel)
{
	return (double)arrays_moved[kernel] * (double)arrays->n * (double)arrays->element;
}

static void read_back(const struct arrays *arrays, cl_mem from, size_t at, size_t bytes,
		      void *into)
{
	opencl_check(
		cl.EnqueueReadBuffer(arrays->card->queue, from, 1, at, bytes, into, 0, NULL, NULL),
		"EnqueueReadBuffer");
}

/* The bits of an element of the arrays that has this value. */
static unsigned long long element_bits(const struct arrays *arrays, double value)
{
	const float single = (float)value;

	return arrays->element == 8 ? bits_of(&value, 8) : bits_of(&single, 4);
}

static double twice(int times)
{
	double factor = 1;

	while (times-- > 0)
		factor *= 2;
	return factor;
}

int kernels_sum_is_right(const struct arrays *arrays, const struct shape *shape, int round)
{
	const size_t count = global_size(arrays, READ, shape), size = arrays->element;
	unsigned long long expected = (unsigned long long)(round + 1) * count, sum = 0, one;
	char *const sums = room_for(count, size, "sums", "free some memory");
	size_t i;

	read_back(arrays, arrays->sums, 0, count * size, sums);
	for (i = 0; i < count; i++)
		sum += bits_of(sums + i * size, size);
	for (i = 0; i < PERIOD; i++) {
		one = element_bits(arrays, (double)(i + 1) * twice(round + 1));
		expected += one * (arrays->n / PERIOD + (i < arrays->n % PERIOD));
	}
	free(sums);
	return (sum - expected) << (64 - 8 * size) == 0;
}

int kernels_is_written(const struct arrays *arrays, int round)
{
	const unsigned long long expected = element_bits(arrays, scalar(WRITE, round));
	size_t i, at;
	char one[8];

	for (i = 0; i < 8; i++) {
		at = i * (arrays->n / 8) + (size_t)(round * 97 + 1) % (arrays->n / 8);
		read_back(arrays, arrays->of[C], at * arrays->element, arrays->element, one);
		if (bits_of(one, arrays->element) != expected)
			return 0;
	}
	return 1;
}

struct wrong {
	size_t count, first;
	unsigned long long is;
};

/* VALUES: what the elements of a period should be; FROM: at its begin. */
static void compare(struct wrong *wrong, const char *chunk, size_t from, size_t count, size_t size,
		    const char *values)
{
	size_t block, i, bad = 0, first = count;

	for (block = 0; block < count; block += PERIOD) {
		const size_t elements = count - block < PERIOD ? count - block : PERIOD;

		if (memcmp(chunk + block * size, values, elements * size) == 0)
			continue;
		for (i = 0; i < elements; i++)
			if (memcmp(chunk + (block + i) * size, values + i * size, size)) {
				bad++;
				first = block + i < first ? block + i : first;
			}
	}
	if (bad && !wrong->count) {
		wrong->first = from + first;
		wrong->is = bits_of(chunk + first * size, size);
	}
	wrong->count += bad;
}

/* What an array has after so many rounds: c what the last write left there. */
static double element_of(int array, size_t i, int rounds)
{
	const double first = (double)(i % PERIOD + 1);

	return array == A   ? first * twice(rounds)
	       : array == B ? 3 * first * twice(rounds - 1)
			    : scalar(WRITE, rounds - 1);
}

static void validate_array(const struct arrays *arrays, int array, int rounds, char *chunk)
{
	const size_t size = arrays->element;
	char *const values = room_for(PERIOD, size, "values", "free some memory");
	struct wrong wrong = { 0, 0, 0 };
	unsigned long long bits;
	size_t i, count;

	for (i = 0; i < PERIOD; i++) {
		const double value = element_of(array, i, rounds);
		const float single = (float)value;

		memcpy(values + i * size, size == 8 ? (const void *)&value : (const void *)&single,
		       size);
	}
	for (i = 0; i < arrays->n; i += count) {
		count = arrays->n - i < CHUNK ? arrays->n - i : CHUNK;
		read_back(arrays, arrays->of[array], i * size, count * size, chunk);
		compare(&wrong, chunk, i, count, size, values);
	}
	bits = element_bits(arrays, element_of(array, wrong.first, rounds));
	if (wrong.count)
		verdict_invalid(NOT_VALIDATED,
				"%s: %zu of %zu elements differ, first %s[%zu]: bits 0x%llx, "
				"expected 0x%llx",
				arrays->card->name, wrong.count, arrays->n, array_names[array],
				wrong.first, wrong.is, bits);
	free(values);
}

void kernels_validate(const struct arrays *arrays, int rounds)
{
	char *const chunk = room_for(CHUNK, arrays->element, "elements", "free some memory");
	int array;

	for (array = 0; array < ARRAYS; array++)
		validate_array(arrays, array, rounds, chunk);
	free(chunk);
}

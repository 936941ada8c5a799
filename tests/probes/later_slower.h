/*
 * later_slower: what two ranks of MPI measure later takes longer, as where a neighbour comes or
 * the host moves a CPU: the messages of every second memory that they take (LATER=messages), or
 * the lines after all messages (LATER=lines, with -DMEMBW_PLANT_PAYLOAD=later_word(),0).
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int memory_taken;

static int memory_counted(void **place, size_t alignment, size_t size)
{
	memory_taken++;
	return posix_memalign(place, alignment, size);
}

static int is_later(const char *what)
{
	return memory_taken && strcmp(getenv("LATER"), what) == 0;
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void spin_us(double us)
{
	const double until = now_us() + us;

	while (now_us() < until)
		continue;
}

static int slower_receive(void *data, int count, MPI_Datatype type, int from, int tag,
			  MPI_Comm comm, MPI_Status *status)
{
	/* two of each rank, to send and to receive */
	if (is_later("messages") && (memory_taken - 1) / 2 % 2)
		spin_us(20);
	return MPI_Recv(data, count, type, from, tag, comm, status);
}

/* A word that no message has. */
static __attribute__((unused)) int later_word(void)
{
	if (is_later("lines"))
		spin_us(1);
	return 1000;
}

#define posix_memalign memory_counted
#define MPI_Recv slower_receive

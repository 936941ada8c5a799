/*
 * slow_links: a message takes longer between some ranks of MPI; planted by -include.
 *
 * SLOW_LINKS is {A,B,US},...: a message between ranks A and B, or A and any other where B is -1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <stddef.h>
#include <unistd.h>

static int slow_receive(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
			MPI_Status *status)
{
	static const int links[][3] = { SLOW_LINKS };
	size_t i;
	int me;

	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		const int a = links[i][0], b = links[i][1];

		if ((a == me && (b == from || b < 0)) || (a == from && (b == me || b < 0)))
			usleep((useconds_t)links[i][2] / 2);
	}
	return MPI_Recv(data, count, type, from, tag, comm, status);
}

#define MPI_Recv slow_receive

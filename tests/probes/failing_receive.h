/* failing_receive: from receive number FAIL_AT of rank 1 on MPI returns an error, and fills
 * nothing; where there is STOP_BY, that signal comes in its place. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>

static int failing_receive(void *data, int count, MPI_Datatype type, int from, int tag,
			   MPI_Comm comm, MPI_Status *status)
{
	static int number;
	int me;

	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (me == 1 && ++number >= atoi(getenv("FAIL_AT"))) {
		if (!getenv("STOP_BY"))
			return MPI_ERR_OTHER;
		raise(atoi(getenv("STOP_BY")));
	}
	return MPI_Recv(data, count, type, from, tag, comm, status);
}

#define MPI_Recv failing_receive

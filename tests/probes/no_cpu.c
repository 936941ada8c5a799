/* A library before others: the kernel does not say on which CPU a thread runs. */
int sched_getcpu(void)
{
	return -1;
}

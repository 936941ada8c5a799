/*
 * refuse_calls EPERM|ENOSYS NAME,NAME,... COMMAND...: runs a command to which the kernel refuses
 * these system calls, as the default filters of Docker and Kubernetes do without CAP_SYS_NICE.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned number;
} calls[] = {
	{ "get_mempolicy", SYS_get_mempolicy },
	{ "getcpu", SYS_getcpu },
	{ "mbind", SYS_mbind },
	{ "move_pages", SYS_move_pages },
	{ "perf_event_open", SYS_perf_event_open },
	{ "set_mempolicy", SYS_set_mempolicy },
	{ "sched_setaffinity", SYS_sched_setaffinity },
};
enum { CALLS = sizeof(calls) / sizeof(*calls) };

static unsigned number_of(const char *name)
{
	unsigned i;

	for (i = 0; i < CALLS; i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	fprintf(stderr, "refuse_calls: no call '%s' in its table\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	struct sock_filter rules[2 * CALLS + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { 1, rules };
	unsigned error;
	char *name;

	if (argc < 4)
		return 2;
	error = strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS;
	for (name = strtok(argv[2], ","); name; name = strtok(NULL, ",")) {
		rules[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								    number_of(name), 0, 1);
		rules[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
	}
	rules[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program)) {
		perror("refuse_calls");
		return 2;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}

/*
 * refuse_calls EPERM|ENOSYS|ENOLCK|EOPNOTSUPP NAME,NAME,... COMMAND...: runs a command to which
 * the kernel refuses these system calls.
 *
 * A NAME may be "docker": all that its default filter refuses (moby,
 * profiles/seccomp/default.json: what is not in its list; clone3 by ENOSYS), or "docker+SYS_NICE":
 * as with that capability. Containerd's and Kubernetes' filters are the same there.  Rules on
 * arguments are left out: the flags of clone, the families of socket, the personalities.
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

/* clang-format off */
/* Refused with and without capabilities that a measurement has. */
#define EACH_REFUSED(CALL)                                                              \
	CALL(acct) CALL(add_key) CALL(bpf) CALL(clock_settime) CALL(delete_module) \
	CALL(fanotify_init) CALL(finit_module) CALL(fsconfig) CALL(fsmount) CALL(fsopen) \
	CALL(fspick) CALL(init_module) CALL(ioperm) CALL(iopl) CALL(kcmp) \
	CALL(kexec_file_load) CALL(kexec_load) CALL(keyctl) CALL(lookup_dcookie) \
	CALL(migrate_pages) CALL(mount) CALL(move_mount) CALL(move_pages) \
	CALL(open_by_handle_at) CALL(open_tree) CALL(perf_event_open) CALL(pidfd_getfd) \
	CALL(pivot_root) CALL(process_madvise) CALL(quotactl) CALL(reboot) CALL(request_key) \
	CALL(setdomainname) CALL(sethostname) CALL(setns) CALL(settimeofday) CALL(swapoff) \
	CALL(swapon) CALL(syslog) CALL(umount2) CALL(unshare) CALL(userfaultfd) CALL(ustat) \
	CALL(vhangup)
/* Allowed with CAP_SYS_NICE. */
#define EACH_OF_SYS_NICE(CALL) CALL(get_mempolicy) CALL(mbind) CALL(set_mempolicy)
/* clang-format on */

enum { BY_NAME, BY_NICE, BY_DOCKER };

static const struct {
	const char *name;
	unsigned number;
	int group;
} calls[] = {
#define ROW(name) { #name, SYS_##name, BY_DOCKER },
	EACH_REFUSED(ROW)
#undef ROW
#define ROW(name) { #name, SYS_##name, BY_NICE },
		EACH_OF_SYS_NICE(ROW)
#undef ROW
			{ "clone3", SYS_clone3, BY_NAME },
	{ "flock", SYS_flock, BY_NAME },
	{ "getcpu", SYS_getcpu, BY_NAME },
	{ "sched_getaffinity", SYS_sched_getaffinity, BY_NAME },
	{ "sched_setaffinity", SYS_sched_setaffinity, BY_NAME },
};
enum { CALLS = sizeof(calls) / sizeof(*calls) };

static struct sock_filter rules[4 * CALLS + 2] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
};
static struct sock_fprog program = { 1, rules };

static void refuse(unsigned number, unsigned error)
{
	rules[program.len++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
	rules[program.len++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
}

static void refuse_named(const char *name, unsigned error)
{
	const int is_docker = strncmp(name, "docker", 6) == 0;
	const int least = strcmp(name, "docker+SYS_NICE") == 0 ? BY_DOCKER : BY_NICE;
	const unsigned before = program.len;
	unsigned i;

	if (is_docker)
		refuse(SYS_clone3, ENOSYS);
	for (i = 0; i < CALLS; i++)
		if (is_docker ? calls[i].group >= least : strcmp(calls[i].name, name) == 0)
			refuse(calls[i].number, error);
	if (program.len > before)
		return;
	fprintf(stderr, "refuse_calls: no call '%s' in its table\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned error;
	char *name;

	if (argc < 4)
		return 2;
	error = strcmp(argv[1], "EPERM") == 0        ? EPERM
		: strcmp(argv[1], "ENOLCK") == 0     ? ENOLCK
		: strcmp(argv[1], "EOPNOTSUPP") == 0 ? EOPNOTSUPP
						     : ENOSYS;
	for (name = strtok(argv[2], ","); name; name = strtok(NULL, ","))
		refuse_named(name, error);
	rules[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program)) {
		perror("refuse_calls");
		return 2;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}

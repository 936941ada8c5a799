#!/bin/sh
# tiers on an emulated machine: domains 0 and 1 with a CPU each, domain 2 without, an HMAT.
#   tests/evidence/emulated_tiers.sh /boot/vmlinuz-...
# Needs qemu-system-x86_64, gcc, a static busybox, cpio; takes a minute or two. Figures mean
# nothing there. It shows that pages are where they were requested, that the declared values are read,
# and that pages which another process moves meanwhile (migrate_pages) make the run INVALID.
set -eu
kernel=$1
here=$(cd "$(dirname "$0")/../.." && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir -p "$room/tree/bin" "$room/tree/proc" "$room/tree/sys" "$room/tree/dev"
cp "$(command -v busybox)" "$room/tree/bin/busybox"
gcc -O2 -static -fopenmp "$here/src/tiers/tiers.c" -lm -o "$room/tree/bin/tiers"
cat >"$room/migrate.c" <<'C'
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) /* PID FROM TO */
{
	unsigned long from = 1UL << atoi(argv[2]), to = 1UL << atoi(argv[3]);
	return argc < 4 || syscall(SYS_migrate_pages, atoi(argv[1]), 64UL, &from, &to) < 0;
}
C
gcc -O2 -static "$room/migrate.c" -o "$room/tree/bin/migrate"
cat >"$room/tree/init" <<'I'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
run='/bin/tiers --array-mib 4 --rounds 3 --allow array-too-small'
echo "=== undisturbed"
$run --json /record
echo "=== status $?, places of the pages after each pair:"
/bin/busybox grep -o '"placement_after": {[^}]*}' /record
echo "=== pages moved from domain 0 to domain 1 meanwhile"
$run >/planted 2>&1 &
while /bin/busybox kill -0 $! 2>/dev/null; do /bin/migrate $! 0 1; done
wait $!
echo "=== status $?"; /bin/busybox grep -E '^(invalid|warning|Verdict)' /planted
/bin/busybox poweroff -f
I
chmod +x "$room/tree/init"
(cd "$room/tree" && find . | cpio -o -H newc --quiet | gzip >"$room/initrd.gz")
hmat=
for pair in 0,0,80,100G 1,1,80,100G 0,2,250,27G; do
	IFS=, read -r from to ns gbs <<-P
		$pair
	P
	at="-numa hmat-lb,initiator=$from,target=$to,hierarchy=memory,data-type=access"
	hmat="$hmat $at-latency,latency=$ns $at-bandwidth,bandwidth=$gbs"
done
# shellcheck disable=SC2086 # options, one a word
timeout 500 qemu-system-x86_64 -machine q35,hmat=on -smp 2,sockets=2 -m 1536M -nographic \
	-no-reboot -kernel "$kernel" -initrd "$room/initrd.gz" -append 'console=ttyS0 quiet' \
	-object memory-backend-ram,size=512M,id=m0 -object memory-backend-ram,size=512M,id=m1 \
	-object memory-backend-ram,size=512M,id=m2 -numa node,nodeid=0,memdev=m0,cpus=0 \
	-numa node,nodeid=1,memdev=m1,cpus=1 -numa node,nodeid=2,memdev=m2,initiator=0 \
	-numa dist,src=0,dst=1,val=21 -numa dist,src=0,dst=2,val=17 \
	-numa dist,src=1,dst=2,val=28 $hmat | sed -n '/===/,$p'

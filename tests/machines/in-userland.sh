#!/bin/sh
# Runs a command of sh in a file tree of userland.sh, in namespaces of its own; another
# architecture's programs by the emulator that lies in it.
#
# usage: tests/machines/in-userland.sh FOLDER COMMAND
set -eu
[ $# -eq 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2; }
[ -n "${IN_USERLAND:-}" ] ||
	IN_USERLAND=1 exec unshare --user --map-root-user --mount --pid --fork sh "$0" "$@"
emulator=$1/usr/bin/qemu-aarch64-static
if [ -e "$emulator" ]; then
	# F: the emulator is opened here, not in the tree (Linux 6.7: each user namespace has its own)
	mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
	magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
	mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
	printf '%s' ":aarch64:M::$magic:$mask:$emulator:F" >/proc/sys/fs/binfmt_misc/register
fi
mount --rbind /dev "$1/dev"
mount --rbind /sys "$1/sys"
mount -t proc proc "$1/proc"
exec env -i PATH=/usr/bin:/usr/sbin HOME=/tmp chroot "$1" /bin/sh -c "$2"

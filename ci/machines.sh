#!/bin/sh
# What `make machines` runs, with what it needs: the tests marked `night`, among them the machines of
# tests/machines in qemu, README's first line in the file trees of two architectures, the bundle, Spack, a
# night of each site of tests/data/sites.yaml.
#
# usage: ci/machines.sh [PYTEST ARGUMENT ...]
set -eu
unset CDPATH
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin

sh ci/setup.sh
sh ci/test-packages.sh
# shellcheck source=ci/packages.sh
. ci/packages.sh
wanted=$(missing_packages slurmctld=slurmctld slurmd=slurmd sinfo=slurm-client munged=munge \
	mpirun=openmpi-bin cpio=cpio 'qemu-system-x86_64=qemu-system-x86 ipxe-qemu' \
	qemu-system-aarch64=qemu-system-arm \
	qemu-system-ppc64=qemu-system-ppc \
	'aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu libc6-dev-arm64-cross' \
	'powerpc64le-linux-gnu-gcc=gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross')
if [ -n "$wanted" ] && can_apt; then
	echo "machines: installing by apt-get: $(echo "$wanted" | tr , ' ') (NO_APT=1: nothing is installed)"
	# shellcheck disable=SC2086 # a list of words
	apt_install $wanted
fi
for part in kernel-amd64 kernel-arm64 kernel-ppc64el userland-amd64 userland-arm64; do
	if [ ! -d ".venv/.setup/$part" ] && can_apt; then
		bash "tests/machines/${part%-*}.sh" "${part#*-}" ".venv/.setup/$part"
	fi
done
# shellcheck source=setup-env.sh
. ./setup-env.sh
exec python -m pytest -rs -s -m night "$@"

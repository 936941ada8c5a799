#!/bin/sh
# What `make machines` runs, with what it needs: the tests marked `night`, among them the machines of
# tests/machines in qemu, README's first line in the file trees of two architectures, the bundle, Spack, a
# night of each site of tests/data/sites.yaml. `--turn`: as each run of CI, one machine, one userland, one
# site and one release alone, by the number of the commit, 90 s at most. What is green is written down in
# tests/machines/green.csv, which ci/turns.py prints.
#
# usage: ci/machines.sh [--turn] [PYTEST ARGUMENT ...]
set -eu
unset CDPATH
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin:/sbin

turn=
[ "${1:-}" != --turn ] || { turn=$(git rev-list --count --first-parent HEAD) && shift; }
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
if [ -n "$wanted" ] && [ -z "$turn" ] && can_apt; then
	echo "machines: installing by apt-get: $(echo "$wanted" | tr , ' ') (NO_APT=1: nothing is installed)"
	# shellcheck disable=SC2086 # a list of words
	apt_install $wanted
fi
[ "$turn" ] || for arch in amd64 arm64 ppc64el; do
	if [ ! -d ".venv/.setup/kernel-$arch" ] && can_apt; then
		bash tests/machines/kernel.sh "$arch" ".venv/.setup/kernel-$arch"
	fi
done
# shellcheck source=setup-env.sh
. ./setup-env.sh
rm -f results/machines.xml
status=0
if [ -z "$turn" ]; then
	python -m pytest -rs -s -m night --junitxml=results/machines.xml "$@" || status=$?
	[ ! -e results/machines.xml ] || python ci/turns.py --keep results/machines.xml
	exit "$status"
fi
# shellcheck disable=SC2046 # a list of files
timeout -s INT 90 python -m pytest -v -rs -n 2 --turn "$turn" --junitxml=results/turn.xml "$@" \
	$(cat ci/turns.txt) || status=$?
case $status in 2 | 124)
	echo 'machines: the turn of this commit did not end within 90 s: neither green nor red'
	status=0 ;;
esac
exit "$status"

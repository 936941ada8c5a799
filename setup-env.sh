# shellcheck shell=sh disable=SC2317
# Source this: . ./setup-env.sh   (any POSIX shell, from any folder)
# Then `reframe -c reframe-checks -r`, `spack` and `membw` are those of this checkout.

# where this file lies: plain POSIX shells have no word for it
_membw_file=./setup-env.sh
if [ -n "${BASH_VERSION:-}" ]; then
	# shellcheck disable=SC3028,SC2128 # bash only, by the line above
	_membw_file=${BASH_SOURCE}
elif [ -n "${ZSH_VERSION:-}" ]; then
	eval '_membw_file=${(%):-%x}'
else
	# the shell holds the file open while it reads it; asked from outside it, by its process id
	# shellcheck disable=SC2016 # the inner shell's parent is wanted
	_membw_pid=$(exec sh -c 'echo $PPID')
	for _membw_fd in "/proc/$_membw_pid/fd"/*; do
		case $(readlink "$_membw_fd") in
		*/setup-env.sh) _membw_file=$(readlink "$_membw_fd") ;;
		esac
	done
fi
MEMBW_ROOT=$(CDPATH='' cd -- "$(dirname -- "$_membw_file")" && pwd -P)
unset _membw_file _membw_pid _membw_fd
if [ ! -e "$MEMBW_ROOT/setup-env.sh" ]; then
	echo "membw: cannot tell where setup-env.sh lies" >&2
	echo "hint: cd to the checkout first, then . ./setup-env.sh" >&2
	unset MEMBW_ROOT
	return 2 2>/dev/null || exit 2
fi
if [ ! -x "$MEMBW_ROOT/.venv/bin/membw" ]; then
	echo "membw: '$MEMBW_ROOT/.venv' is not set up" >&2
	echo "hint: make -C $MEMBW_ROOT setup" >&2
	return 2 2>/dev/null || exit 2
fi
# its scripts name the Python that they were made for: of a checkout that was moved there is none,
# of a copy it is the original's, which would run the original's code
IFS= read -r _membw_python <"$MEMBW_ROOT/.venv/bin/membw"
case $_membw_python in
'#!'*/python*)
	_membw_python=${_membw_python#??}
	# a folder may have two names: of an automounter, say, or a bind mount
	# shellcheck disable=SC3013 # dash, busybox, ksh, yash, zsh have it, POSIX since 2024
	if ! [ "${_membw_python%/*}" -ef "$MEMBW_ROOT/.venv/bin" ]; then
		echo "membw: '$MEMBW_ROOT/.venv' was set up in another folder: moved, or copied?" >&2
		echo "hint: rm -rf '$MEMBW_ROOT/.venv' && make -C '$MEMBW_ROOT' setup" >&2
		unset MEMBW_ROOT _membw_python
		return 2 2>/dev/null || exit 2
	fi
	;;
esac
unset _membw_python
export MEMBW_ROOT
export RFM_CONFIG_PATH="$MEMBW_ROOT/configs"
# of a module of the site, or of a profile: they are meant for another Python
eval "$(env | sed -n 's/^\(PYTHON[A-Z][A-Z]*\|__PYVENV_LAUNCHER__\)=.*/unset \1;/p')"
export PYTHONUTF8=1 # our files are, whatever the locale: ReFrame reads them too

# a container's user without an entry in passwd: ReFrame and Slurm's commands want a name
if [ -z "${LOGNAME:-${USER:-}}" ] && ! id -un >/dev/null 2>&1; then
	USER=$(id -u)
	export USER
fi

_membw_path() { # FOLDER: first on the PATH, once
	case :$PATH: in
	*":$1:"*) ;;
	*) PATH=$1:$PATH ;;
	esac
}

_membw_spack=$MEMBW_ROOT/.spack/spack
[ ! -s "$MEMBW_ROOT/.spack/root" ] || _membw_spack=$(cat "$MEMBW_ROOT/.spack/root")
if [ -e "$MEMBW_ROOT/.spack/ready" ] && [ -x "$_membw_spack/bin/spack" ]; then
	# our scope, a cache of our own, and a python that has clingo
	export SPACK_USER_CONFIG_PATH="$MEMBW_ROOT/.spack/user"
	export SPACK_USER_CACHE_PATH="$MEMBW_ROOT/.spack/cache"
	export SPACK_PYTHON="$MEMBW_ROOT/.venv/bin/python"
	_membw_path "$_membw_spack/bin"
fi
_membw_path "$MEMBW_ROOT/.venv/bin"
# last: the programs that `make -C src/stream` built by its default preset
case :$PATH: in
*":$MEMBW_ROOT/build/gcc-o2:"*) ;;
*) PATH=$PATH:$MEMBW_ROOT/build/gcc-o2:$MEMBW_ROOT/build/gcc-o3 ;;
esac
export PATH
unset -f _membw_path
unset _membw_spack

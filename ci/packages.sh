# shellcheck shell=sh disable=SC2034
# Packages of the distribution, for the scripts that source this: installed by apt-get as root,
# named for dnf and zypper.  Names differ: Fortran, hwloc's lstopo, a Python that is new enough.

if command -v apt-get >/dev/null 2>&1; then
	manager='apt-get install' fortran_package=gfortran lstopo=lstopo-no-graphics python_package=python3
elif command -v dnf >/dev/null 2>&1; then
	manager='dnf install' fortran_package=gcc-gfortran lstopo=lstopo-no-graphics python_package=python3.11
elif command -v zypper >/dev/null 2>&1; then
	manager='zypper install' fortran_package=gcc-fortran lstopo=lstopo-no-graphics python_package=python311
else
	manager='' fortran_package=gfortran lstopo=lstopo-no-graphics python_package='Python 3.10 or later'
fi

install_hint() { # PACKAGES: what a person types here
	case "$manager $1" in
	' '*) echo "ask for these packages: $1" ;;
	dnf*likwid*) echo "sudo $manager $1 (likwid is in EPEL)" ;;
	*) echo "sudo $manager $1" ;;
	esac
}

can_apt() { # NO_APT=1: install nothing, not even as root
	[ -z "${NO_APT:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
}

apt_install() { # PACKAGE...: those of them that this release has; removes nothing
	apt-get update -qq >/dev/null 2>&1 || true
	known=
	for package in "$@"; do
		if [ -n "$(apt-cache madison "$package" 2>/dev/null)" ]; then
			known="$known $package"
		else
			echo "apt-get: this release has no package '$package'"
		fi
	done
	# one by one if need be: libomp packages exclude each other, and nothing may be removed
	# shellcheck disable=SC2086 # a list of words
	[ -z "$known" ] || apt_quietly $known || for package in $known; do
		apt_quietly "$package" || echo "apt-get: could not install '$package'"
	done
}

apt_quietly() {
	apt-get install -y -qq --no-remove --no-install-recommends "$@" >/dev/null 2>&1 </dev/null
}

missing_packages() { # COMMAND=PACKAGE...: the packages whose command is not on the PATH
	for pair in "$@"; do
		command -v "${pair%%=*}" >/dev/null 2>&1 || printf '%s ' "${pair#*=}"
	done | sed 's/ $//'
}

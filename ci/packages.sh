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

apt_install() { # PACKAGE[,PACKAGE]...: those joined by commas together or not at all; removes nothing
	apt-get update -qq >/dev/null 2>&1 || true
	known=
	for group in "$@"; do
		lacks=
		for package in $(echo "$group" | tr , ' '); do
			[ -n "$(apt-cache madison "$package" 2>/dev/null)" ] || lacks="$lacks $package"
		done
		if [ "$lacks" ]; then
			echo "apt-get: this release has not:$lacks"
		else
			known="$known $group"
		fi
	done
	# group by group if need be: libomp packages exclude each other, and nothing may be removed
	# shellcheck disable=SC2046,SC2086 # lists of words
	[ -z "$known" ] || apt_quietly $(echo $known | tr , ' ') || for group in $known; do
		apt_quietly $(echo "$group" | tr , ' ') || echo "apt-get: could not install '$group'"
	done
}

apt_quietly() {
	apt-get install -y -qq --no-remove --no-install-recommends "$@" >/dev/null 2>&1 </dev/null
}

missing_packages() { # COMMAND=PACKAGE...: the groups of packages whose command is not on the PATH
	for pair in "$@"; do
		command -v "${pair%%=*}" >/dev/null 2>&1 ||
			printf '%s ' "$(echo "${pair#*=}" | tr ' ' ,)"
	done | sed 's/ $//'
}

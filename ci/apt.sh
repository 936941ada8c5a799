# shellcheck shell=sh
# Debian and Ubuntu packages, for the scripts that source this.

can_apt() {
	[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
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

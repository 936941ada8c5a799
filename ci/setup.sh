#!/bin/sh
# Sets everything up: .venv, system tools, Spack.  Prints what it does and how long it took;
# what exists already is left alone.
#
# usage: ci/setup.sh [--retry | --no-spack]
#   --retry: look again for tools and Spack that were missing;  --no-spack: leave Spack for later
# As root it installs missing tools by apt-get; with NO_APT=1 it only names them.
# In an unpacked bundle (ci/bundle.sh) nothing is downloaded.  PYTHON=PATH names the Python.
# MEMBW_NEXT: the options of the command that is to follow; what is mistyped is refused.
set -eu
unset CDPATH PYTHONPATH PYTHONHOME PIP_USER PIP_TARGET PIP_PREFIX # of a module, or of a profile
cd "$(dirname "$0")/.."
root=$PWD
stamps=$root/.venv/.setup
PATH=$PATH:/usr/sbin:/sbin    # dpkg wants ldconfig, and an empty shell has no sbin
export PATH GIT_TERMINAL_PROMPT=0 DEBIAN_FRONTEND=noninteractive
# shellcheck source=ci/versions.env
. ci/versions.env
# shellcheck source=ci/packages.sh
. ci/packages.sh

die() {
	printf "membw: %s\n" "$1" >&2
	printf "hint: %s\n" "$2" >&2
	exit 2
}

begin() { # WHAT: announce a step
	started=$(date +%s)
	echo "set-up: $1"
}

finish() { # [NOTE]
	echo "set-up: ... ${1:-done} in $(($(date +%s) - started)) s"
}

# ReFrame and Spack cannot work there: better said in the first second than after two minutes.
path_is_fit() {
	case $root in
	*[[:space:]\'\"\`\\\$\&\;\|\<\>\(\)\*\?\[\]\{\}:\#\!]*)
		die "the path of this checkout has a space or a special character: '$root'" \
			'move it to a path of letters, digits and ._-: make, ReFrame and Spack need that' ;;
	esac
}

# Better said at once than after the set-up; a configuration of the user's own has systems of its own.
refuse_mistyped() {
	system='' before='' of_user=${RFM_CONFIG_FILES:-}
	for word in ${MEMBW_NEXT:-}; do
		case $word in
		-C* | --config-file*) of_user=yes ;;
		--system=*) system=${word#*=} ;;
		esac
		[ "$before" != --system ] || system=$word
		refuse_option "${word%%=*}"
		before=$word
	done
	[ -z "$system" ] || [ "$of_user" ] || [ -e "systems/${system%%:*}.yaml" ] ||
		die "no system '$system' in systems/" "there are $(cd systems && echo *.yaml | sed 's/\.yaml//g')"
}

refuse_option() { # WORD: one that membw and ReFrame have not; where words are quoted none ends for sure
	hint="'ci/in-env membw run --help' lists the options, after 'make setup'"
	case $MEMBW_NEXT in *[\'\"\\\#]*) return ;; esac
	case $1 in
	--*) ;;
	-*) return ;;
	*) [ -z "$before" ] || return 0 ;;
	esac
	for option in --full --rounds --json --checks --night --minutes --within --mail-to \
		$(cat configs/reframe-options); do
		case $option in
		"$1") return ;;
		"$1"*) hint="did you mean '$option'?" ;;
		esac
	done
	die "unknown argument '$1'" "$hint"
}

# Two shells, or CI and a user: the second waits for the first.
take_turns() {
	command -v flock >/dev/null 2>&1 || return 0
	exec 9<ci/setup.sh
	status=0
	flock -n 9 2>/dev/null || status=$?
	case $status in
	0) ;;
	1)
		echo 'set-up: waiting for another set-up of this checkout'
		flock 9
		;;
	*) # Lustre without -o flock
		echo "membw: no locks on the file system of '$root': two set-ups at a time would not be noticed" >&2 ;;
	esac
}

# A bundle (ci/bundle.sh) brings what would come by the network.
look_for_bundle() {
	offline=
	pip_hint='check the network and the package index that pip is set to, then try again'
	[ -e offline/SHA256SUMS ] || return 0
	offline=yes
	pip_hint="was the bundle made for this Python, $(python3 --version 2>&1), and this machine?"
	pip_hint="$pip_hint make bundle ARGS=--help"
	[ "$(cat .venv/.setup/bundle 2>/dev/null)" != "$(sha256sum <offline/SHA256SUMS)" ] || return 0
	begin 'the bundle: comparing checksums'
	(cd offline && sha256sum --quiet --check SHA256SUMS) ||
		die 'the bundle is damaged: the files above differ from what was packed' \
			'copy the archive again; its own checksum is in the .sha256 file next to it'
	finish
}

fingerprint() {
	cat ci/requirements.txt pyproject.toml ci/no_pythonpath.py | sha256sum | cut -d' ' -f1
}

is_new_enough() { # PYTHON
	command -v "$1" >/dev/null 2>&1 &&
		"$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# RHEL 9 and SLES 15 call 3.9 and 3.6 `python3` and bring newer ones by their version.
find_python() {
	for python in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python3.10}; do
		! is_new_enough "$python" || return 0
	done
	command -v "${PYTHON:-python3}" >/dev/null 2>&1 ||
		die "no '${PYTHON:-python3}' on the PATH" "$(install_hint "$python_package")"
	python=$(command -v "${PYTHON:-python3}")
	newer=
	[ "$python_package" = python3 ] || newer="$(install_hint "$python_package"), or "
	die "'$python' is $("$python" --version 2>&1), membw needs 3.10 or later" \
		"${newer}PYTHON=PATH of a newer one; 'make -s -C src/stream' measures without Python"
}

python_is_fit() {
	find_python
	"$python" -c 'import venv, ensurepip' 2>/dev/null && return
	if can_apt; then
		begin 'installing python3-venv by apt-get'
		apt_install python3-venv && finish
	fi
	"$python" -c 'import venv, ensurepip' 2>/dev/null ||
		die "'$python' has no module 'venv'" "$(install_hint python3-venv)"
}

venv() {
	print=$(fingerprint)
	if [ "$(cat "$stamps/venv" 2>/dev/null)" = "$print" ] && .venv/bin/python -c '' 2>/dev/null
	then
		return
	fi
	python_is_fit
	[ -w . ] || die "'$root/.venv' cannot be written by $(id -un)" \
		"ask its owner to set it up ('make setup'), or use a clone of your own"
	begin "python environment in .venv: $(grep -c '^[a-z]' ci/requirements.txt) pinned packages"
	.venv/bin/python -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear .venv
	# shellcheck disable=SC2086 # two words or none
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		${offline:+--no-index --find-links offline/wheels} -r ci/requirements.txt ||
		die 'pip could not install the pinned packages (its reason is above)' "$pip_hint"
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --editable . ||
		die 'pip could not install membw itself (its reason is above)' 'see above'
	packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	cp ci/no_pythonpath.py "$packages"
	echo 'import no_pythonpath' >"$packages/no_pythonpath.pth"
	mkdir -p "$stamps"
	echo "$print" >"$stamps/venv"
	[ -z "$offline" ] || sha256sum <offline/SHA256SUMS >"$stamps/bundle"
	finish
}

missing_tools() {
	missing_packages cc=gcc gfortran="$fortran_package" likwid-pin=likwid numactl=numactl \
		"$lstopo=hwloc"
}

tools() {
	wanted=$(missing_tools)
	# libgomp comes with gcc; some other cc may have no OpenMP at all
	[ -n "$wanted" ] && [ "$(cat "$stamps/tools-missing" 2>/dev/null)" != "$wanted" ] || return 0
	if can_apt; then
		begin "installing by apt-get: $wanted (NO_APT=1: nothing is installed)"
		# shellcheck disable=SC2086 # a list of words
		apt_install $wanted || true
		wanted=$(missing_tools)
		finish
	fi
	[ -z "$wanted" ] || {
		echo "set-up: these packages are missing, going on without them: $wanted"
		echo "hint: $(install_hint "$wanted")"
	}
	# not where the checkout is another user's
	echo "$wanted" 2>/dev/null >"$stamps/tools-missing" || true
}

is_spack_1() { # COMMAND
	case $("$1" --version 2>/dev/null) in
	[1-9]*) return 0 ;;
	esac
	return 1
}

own_spack() { # the Spack that this machine has already, or nothing
	if [ -n "${SPACK_ROOT:-}" ] && [ "$SPACK_ROOT" != "$root/.spack/spack" ] &&
		is_spack_1 "$SPACK_ROOT/bin/spack"; then
		echo "$SPACK_ROOT"
	elif command -v spack >/dev/null 2>&1 && is_spack_1 "$(command -v spack)"; then
		spack location -r
	fi
}

has_commit() { # FOLDER COMMIT
	[ "$(git -C "$1" rev-parse HEAD 2>/dev/null)" = "$2" ]
}

clone() { # URL TAG COMMIT FOLDER: the right commit in the folder, or a failure
	! has_commit "$4" "$3" || return 0
	rm -rf "$4.new"
	from=$1
	[ -z "$offline" ] || from=file://$root/offline/${4##*/}.git
	git clone --quiet --depth 1 --branch "$2" -c advice.detachedHead=false "$from" "$4.new" || true
	if ! has_commit "$4.new" "$3"; then
		rm -rf "$4.new"
		return 1
	fi
	rm -rf "$4"
	mv "$4.new" "$4"
}

clone_both() { # OWN: Spack unless there is an own one, and the package repository
	[ -n "$1" ] || clone "$SPACK_URL" "$SPACK_TAG" "$SPACK_COMMIT" .spack/spack || return
	clone "$PACKAGES_URL" "$PACKAGES_TAG" "$PACKAGES_COMMIT" .spack/packages
}

use_sources_of_bundle() {
	rm -f .spack/user/mirrors.yaml
	[ -z "$offline" ] || [ ! -d offline/sources ] ||
		printf 'mirrors:\n  bundle: {url: "file://%s/offline/sources", source: true, binary: false}\n' \
			"$root" >.spack/user/mirrors.yaml
}

# Of Spack 1.1 and later. The new installer needs a terminal or a pipe for its input: in a batch job
# it ends with 'Operation not permitted'.
keep_installer() {
	case $(command spack --version) in
	1.0.*) rm -f .spack/user/config.yaml ;;
	*) printf 'config:\n  installer: old\n' >.spack/user/config.yaml ;;
	esac
}

configure_spack() { # bare `spack install membw` reads our scope, and the index is made once
	mkdir -p .spack/user
	printf 'include:\n- ../../configs/spack\n' >.spack/user/include.yaml
	use_sources_of_bundle
	# the bundle's index is of this very commit; Spack believes it when it is newer than the clone
	[ ! -d offline/index ] || { mkdir -p .spack/cache/cache && cp -R offline/index/. .spack/cache/cache; }
	echo "$pins" >.spack/ready
	: >.spack/indexing    # a set-up that is killed leaves it, and the next one indexes again
	begin "Spack: indexing its packages by a first 'spack fetch membw@develop', about a minute"
	# what it builds from is fetched here, not in the first job, on a node without network
	if (. ./setup-env.sh && keep_installer && command spack fetch -D membw@develop) \
		>.spack/spec.log 2>&1; then
		rm -f .spack/indexing
		finish
		return
	fi
	rm -f .spack/ready .spack/indexing
	finish "it fails ($root/.spack/spec.log), make builds the same presets: done"
	return 1
}

spack_is_settled() { # the pinned commits are ready, or were not available the last time
	{ [ "$(cat .spack/ready 2>/dev/null)" = "$pins" ] && [ ! -e .spack/indexing ]; } ||
		[ "$(cat "$stamps/no-spack" 2>/dev/null)" = "$pins" ]
}

fetch_spack() {
	rm -f .spack/root
	own=$(own_spack)
	if [ -n "$own" ]; then
		begin "Spack: using '$own', cloning package repository $PACKAGES_TAG into .spack"
		echo "$own" >.spack/root
	else
		begin "Spack: cloning $SPACK_TAG and package repository $PACKAGES_TAG into .spack"
	fi
	if clone_both "$own"; then
		finish
		return
	fi
	finish 'Spack is not available here, make builds the same presets: done'
	return 1
}

get_spack() {
	pins="$SPACK_COMMIT $PACKAGES_COMMIT"
	! spack_is_settled || return 0
	[ -w . ] || {
		echo "set-up: Spack is not set up, and $(id -un) may not write here: make builds the same presets"
		return 0
	}
	mkdir -p .spack
	if ! fetch_spack || ! configure_spack; then
		echo "$pins" >"$stamps/no-spack"
	fi
}

case ${1:-} in
'' | --retry | --no-spack) ;;
*) die "unknown argument '$1'" '--retry or --no-spack' ;;
esac
[ "${1:-}" != --retry ] || rm -f "$stamps/tools-missing" "$stamps/no-spack"
path_is_fit
refuse_mistyped
take_turns
look_for_bundle
venv
tools
[ "${1:-}" = --no-spack ] || get_spack

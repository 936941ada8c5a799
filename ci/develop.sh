#!/bin/bash
# Tries membw with what comes next: ReFrame, Spack and spack-packages as their branches `develop`
# have them now. In a clone of this checkout's HEAD; it reports, and changes nothing here.
#
# usage: ci/develop.sh [FOLDER]    FOLDER: of the clone (a new one in TMPDIR)
# MEMBW_NEXT_REFRAME: what pip installs in place of ReFrame's branch. Exit status: 0, whatever fails.
# shellcheck disable=SC2317 # functions are called by their names
set -uo pipefail
if [ "${1:-}" = --help ]; then
	sed -n '2,7s/^# \{0,1\}//p' "$0"
	exit 0
fi
unset CDPATH
cd "$(dirname "$0")/.." || exit 2
next=${MEMBW_NEXT_REFRAME:-git+https://github.com/reframe-hpc/reframe@develop}
folder=${1:-$(mktemp -d)}

report() { # WHAT COMMAND...: one line of how it ended; its output is in FOLDER/WHAT.log
	local what=$1
	shift
	if "$@" >"$folder/$what.log" 2>&1 </dev/null; then
		echo "develop: $what: fine"
	else
		echo "develop: $what: FAILED with $?: $(tail -n 1 "$folder/$what.log")"
	fi
}

pin_develop() { # the newest commits, where the set-up reads its pins
	# shellcheck source=ci/versions.env
	. ci/versions.env
	local spack packages
	spack=$(git ls-remote "$SPACK_URL" refs/heads/develop | cut -f1)
	packages=$(git ls-remote "$PACKAGES_URL" refs/heads/develop | cut -f1)
	[ -n "$spack" ] && [ -n "$packages" ] || return
	sed -i -e 's/_TAG=.*/_TAG=develop/' -e "s/^SPACK_COMMIT=.*/SPACK_COMMIT=$spack/" \
		-e "s/^PACKAGES_COMMIT=.*/PACKAGES_COMMIT=$packages/" ci/versions.env
	cat ci/versions.env
}

in_env() { # COMMAND...
	sh ci/in-env "$@"
}

mkdir -p "$folder"
report clone git clone -q . "$folder/membw"
cd "$folder/membw" || exit 0
report pins pin_develop
report set-up sh ci/setup.sh
report reframe .venv/bin/pip install --quiet --no-deps "$next"
echo "develop: $(in_env reframe --version 2>&1 | tail -n 1) of ReFrame, $(in_env spack --version 2>&1) of Spack"
report list in_env reframe -c reframe-checks -l
report run in_env membw run --rounds 1 -n '^stream%.*pinning=omp' -p '^gcc-o2$'
report tests in_env python -m pytest -q -n 2 tests/checks tests/spack
echo "develop: logs are in '$folder'"
exit 0

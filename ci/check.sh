#!/bin/bash
# Lint: ruff, mypy, clang-format, shellcheck, compiler warnings as errors.
#
# usage: ci/check.sh [--fix]     --fix: format Python and C in place
# A check that cannot run here is reported as skipped.
set -uo pipefail
shopt -s extglob globstar
unset CDPATH
cd "$(dirname "$0")/.." || exit 2
PATH=$PWD/.venv/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One per CPU at a time; what one says is shown in one piece, when it has ended.
check() { # NAME COMMAND...
	while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do wait -n; done
	reported "$@" &
}

reported() { # NAME COMMAND...
	local name=$1 begun=$SECONDS said
	shift
	if said=$("$@" 2>&1); then
		echo "${said:+$said$'\n'}check: $name: fine ($((SECONDS - begun)) s)"
	else
		echo "${said:+$said$'\n'}check: $name: FAILED"
		touch "$work/$name"
	fi
}

skip() { # NAME REASON
	echo "check: $1: skipped, $2"
}

fix=
case "$*" in
'') ;;
--fix) fix=yes ;;
*)
	printf "membw: unknown argument '%s'\nhint: 'ci/check.sh --fix', or none\n" "$*" >&2
	exit 2
	;;
esac
mapfile -t c_files < <(git ls-files -co --exclude-standard '*.c' '*.h')
mapfile -t scripts < <(git ls-files -co --exclude-standard '*.sh' ci .ci |
	while read -r file; do head -1 "$file" | grep -qE '^#!.*sh|shellcheck shell' && echo "$file"; done)

check 'ruff check' ruff check --quiet ${fix:+--fix} .
if [ "$fix" ]; then
	wait # all write
	check 'src/presets.sh' env PYTHONPATH=src python -m membw.presets.generate
	check 'ruff format' ruff format --quiet .
else
	check 'ruff format' ruff format --quiet --diff .
fi
check 'mypy' mypy --no-error-summary
if [ ${#c_files[@]} -gt 0 ]; then
	if [ "$fix" ]; then
		check 'clang-format' clang-format -i "${c_files[@]}"
		wait
	else
		check 'clang-format' clang-format --dry-run -Werror "${c_files[@]}"
	fi
fi
if command -v shellcheck >/dev/null; then
	check 'shellcheck' shellcheck -x "${scripts[@]}"
else
	skip 'shellcheck' 'it is not on the PATH (apt-get install shellcheck)'
fi

# each file by itself: what it calls in other files is then declared only (src/harness/config.h)
warnings=(-std=c11 -O2 -Wall -Wextra -Werror -fsyntax-only -DLOCAL=)
check 'warnings of gcc' gcc "${warnings[@]}" -fopenmp src/**/*.c
clang=$(sh src/build.sh compilers | sed -n 's/^clang	\([^	]*\)	.*	$/\1/p' | sed -n 1p)
if [ "$clang" ]; then
	check "warnings of $clang" "$clang" "${warnings[@]}" -fopenmp src/**/*.c
else
	skip 'warnings of clang' 'none here builds OpenMP'
fi
# what OpenMP itself costs cannot be built without it
check 'warnings of gcc without OpenMP' gcc "${warnings[@]}" src/!(overheads)/**/*.c

if command -v mpicc >/dev/null; then
	check 'warnings of mpicc' mpicc "${warnings[@]}" -DMEMBW_MPI -fopenmp src/**/*.c
	check 'mpicc, gnu89' \
		mpicc "${warnings[@]/-std=c11/-std=gnu89}" -DMEMBW_MPI -fopenmp src/**/*.c
else
	skip 'warnings of mpicc' 'it is not on the PATH (apt-get install libopenmpi-dev)'
fi

wait
cd "$work" && failed=(*)
[ "${failed[*]}" = '*' ] || {
	echo "check: failed: ${failed[*]}"
	echo "hint: 'ci/check.sh --fix' formats the files"
	exit 1
}

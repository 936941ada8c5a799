#!/bin/bash
# All tests of this folder, in stages: what computes and what waits for other programs, WORKERS files at
# a time; then what measures, with nothing in parallel.  Where at most three failed, each is run once more
# with nothing in parallel, as other processes and a hypervisor's other guests disturb; ci/count.py names it.
#
# usage: ci/stages.sh WORKERS      results: results/tests-shared.xml, -alone.xml, -again.xml
set -uo pipefail
count=$(dirname "$0")/count.py

stage() { # NAME WORD...
	local name=$1
	shift
	python -m pytest "$@" --durations=15 --junitxml="results/tests-$name.xml"
}

first=0 second=0
cache=(-o cache_dir=.pytest_cache/stages)
stage shared "${cache[@]}" --cache-clear -m 'shared or not alone' -n "$1" --dist loadfile \
	--no-loadscope-reorder || first=$?
stage alone "${cache[@]}" -m 'alone and not shared' || second=$?
status=$((first > second ? first : second))
if [ "$status" = 1 ] && python "$count" --few results/tests-shared.xml results/tests-alone.xml; then
	status=0
	stage again "${cache[@]}" --last-failed --last-failed-no-failures=none || status=$?
fi
exit "$status"

#!/bin/bash
# All tests of this folder, in stages: what computes and what waits for other programs, WORKERS files at
# a time; then what measures, with nothing in parallel.  Of the first at most three that failed are run
# once more, with nothing in parallel: ci/count.py names each.
#
# usage: ci/stages.sh WORKERS      results: results/tests-shared.xml, -alone.xml, -again.xml
set -uo pipefail
count=$(dirname "$0")/count.py

stage() { # NAME WORD...
	local name=$1
	shift
	python -m pytest "$@" --durations=15 --junitxml="results/tests-$name.xml"
}

status=0 alone=0
stage shared -m 'shared or not alone' -n "$1" --dist loadfile --no-loadscope-reorder \
	-o cache_dir=.pytest_cache/shared --cache-clear || status=$?
stage alone -m 'alone and not shared' || alone=$?
if [ "$status" = 1 ] && python "$count" --few results/tests-shared.xml; then
	status=0
	stage again --last-failed --last-failed-no-failures=none -o cache_dir=.pytest_cache/shared || status=$?
fi
[ "$status" != 0 ] || status=$alone
exit "$status"

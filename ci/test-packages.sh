#!/bin/sh
# Adds to .venv what tests and lint need, unless it is there; after ci/setup.sh.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."
print=$(sha256sum <ci/requirements-develop.txt | cut -d' ' -f1)
[ "$(cat .venv/.setup/develop 2>/dev/null)" != "$print" ] || exit 0
echo 'test-packages: python packages of tests and lint'
.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	-r ci/requirements-develop.txt
echo "$print" >.venv/.setup/develop

#!/bin/sh
# Pins the packages of ci/requirements.in by version and checksum, for Python 3.10 and later.
set -eu
cd "$(dirname "$0")/.."
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
python3 -m venv "$tool"
"$tool/bin/pip" install --quiet --disable-pip-version-check uv
"$tool/bin/uv" pip compile --quiet --universal --generate-hashes --python-version 3.10 \
	--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
	--output-file ci/requirements.txt "$@" ci/requirements.in

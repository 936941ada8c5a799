#!/bin/sh
# Pins the packages of ci/requirements.in and requirements-develop.in by version and checksum, for
# Python 3.10 and later. Without polars (182 MB), which ReFrame imports for --performance-compare
# and --list-stored-sessions alone: `pip install polars` where these are wanted.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."
tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
python3 -m venv "$tool"
"$tool/bin/pip" install --quiet --disable-pip-version-check uv
for name in requirements requirements-develop; do
	"$tool/bin/uv" pip compile --quiet --universal --generate-hashes --python-version 3.10 \
		--no-emit-package polars --no-emit-package polars-runtime-32 \
		--no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' \
		--output-file "ci/$name.txt" "$@" "ci/$name.in"
done

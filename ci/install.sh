#!/bin/sh
# Builds programs by one preset and installs them, with their build records and a modulefile.
#
# usage: make install PREFIX=/opt/membw [PRESET=gcc-o2] [PROGRAMS='stream ladder']
#
# Needs make and a compiler.  dgemm only where it is named, with BLAS=...; DESTDIR as usual.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

[ -n "${PREFIX:-}" ] || {
	echo "membw: no PREFIX: where to install" >&2
	echo "hint: make install PREFIX=\$HOME/membw" >&2
	exit 2
}
# make takes a variable that is empty for one that is given
[ -n "${PRESET:-}" ] || unset PRESET
[ -n "${BLAS:-}" ] || unset BLAS
case $PREFIX in /*) ;; *) PREFIX=$PWD/$PREFIX ;; esac
to=${DESTDIR:-}$PREFIX
version=$(sed -n 's/^#define MEMBW_VERSION "\(.*\)"/\1/p' src/harness/config.h)
build=build/install${PRESET:+-$PRESET} # relative: the path of the checkout may have a space
programs=${PROGRAMS:-$(for file in src/*/*.c; do
	name=$(basename "$file" .c)
	[ "$file" != "src/$name/$name.c" ] || [ "$name" = harness ] || [ "$name" = dgemm ] || echo "$name"
done)}
set --
for name in $programs; do
	"${MAKE:-make}" --no-print-directory -C src PROGRAM="$name" BUILD="../../$build"
	mkdir -p "$to/bin"
	mkdir -p "$to/share/membw" "$to/share/modulefiles/membw"
	# prefixed: `stream` is ImageMagick's command
	install -m 755 "$build/$name" "$to/bin/membw-$name"
	set -- "$@" "$to/bin/membw-$name"
	install -m 644 "$build/$name.json" "$to/share/membw/membw-$name.json"
done
# of a program for another CPU, and without Python, there is none
"${PYTHON:-python3}" ci/man.py "$to/share/man" "$@" >/dev/null 2>&1 || true
cat >"$to/share/modulefiles/membw/$version" <<EOF
#%Module1.0
module-whatis "membw $version: memory bandwidth of a node, with evidence and a verdict"
prepend-path PATH "$PREFIX/bin"
prepend-path MANPATH "$PREFIX/share/man"
EOF
echo "installed in $to: bin share/membw share/man; module: share/modulefiles/membw/$version"

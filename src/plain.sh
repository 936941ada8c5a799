#!/bin/sh
# What make asks of src/membw/presets, without Python: one preset's line, and the record of a build.
#
#   plain.sh plan PRESET PROGRAM --stamp FILE [--cc=CC] [--extra=WORDS] [--libs=WORDS]
#            [-D NAME=VALUE]... [--libhugetlbfs PATH] [--no-openmp]
#   plain.sh record PRESET BINARY --sources FOLDER -- LINE...
#
# Writes the same files.  It takes a row of presets.yaml as it stands there: the table is checked
# by Python alone.  MPI=1 and BLAS= need Python.
set -eu
machines='x86_64 aarch64 ppc64le riscv64' # of `requires`
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd)

die() { # FACT HINT
	printf 'membw: %s\nhint: %s\n' "$1" "$2" >&2
	exit 2
}

value() { # SECTION ROW KEY: one value of presets.yaml; lists without their brackets
	awk -v section="$1:" -v row="  $2:" -v key="    $3:" -v quote="'" '
	/^[^ #]/ { in_section = $1 == section }
	/^  [^ #]/ { in_row = in_section && index($0, row) == 1 }
	/^    [^ #]/ { in_key = in_row && index($0, key) == 1; $0 = substr($0, length(key) + 1) }
	in_key {
		sub(/^ +/, "")
		if (sub("^" quote, "")) sub(quote ".*", "")
		else sub(/ *#.*/, "")
		if ($0 != ">-") text = text (text == "" ? "" : " ") $0
	}
	END { gsub(/[][,]/, " ", text); print text }' "$here/../configs/presets.yaml"
}

quoted() { # WORD...: as a shell reads them again, only those in quotes that need it
	for word in "$@"; do
		case $word in
		'' | *[!A-Za-z0-9@%+=:,./_-]*)
			printf "'%s' " "$(printf %s "$word" | sed "s/'/'\"'\"'/g")" ;;
		*) printf '%s ' "$word" ;;
		esac
	done | sed 's/ $//'
}

banner() { # COMPILER, of one word or more
	# shellcheck disable=SC2086
	$1 --version 2>&1 | sed -n 1p
}

exists() { command -v "${1%% *}" >/dev/null 2>&1; }

of_family() { # FAMILY COMPILER
	case $1:$(banner "$2") in
	*:*AOCC* | *:*AMD\ clang*) [ "$1" = aocc ] ;;
	*:*Cray\ clang*) [ "$1" = cce ] ;;
	*:Arm\ *) [ "$1" = armclang ] ;;
	*:nvc\ *) [ "$1" = nvc ] ;;
	*:fcc\ *) [ "$1" = fcc ] ;;
	*:*oneAPI*) [ "$1" = icx ] ;;
	*:*clang\ version*) [ "$1" = clang ] ;;
	*:icc*) [ "$1" = icc ] || [ "$1" = icc13 ] ;;
	*:GNU\ Fortran*) [ "$1" = gfortran ] ;;
	gcc:*cc*' ('*) ;;
	*) false ;;
	esac
}

compiler_of() { # FAMILY NAME: it, or its newest NAME-VERSION
	for cc in "$2" $(
		IFS=:
		for folder in $PATH; do
			ls "$folder" 2>/dev/null || true
		done | grep -Ex "$2-[0-9][0-9.]*" | sort -t- -k2 -rn
	); do
		if exists "$cc" && of_family "$1" "$cc"; then
			echo "$cc"
			return
		fi
	done
	echo "$2"
}

check_compiler() {
	exists "$cc" || die "compiler '$cc' of preset '$preset' not found" \
		'load its module, or CC=PATH'
	of_family "$family" "$cc" ||
		die "'$cc' is not of family '$family' (preset '$preset'): '$(banner "$cc")'" \
			'CC=PATH of another compiler, or a preset of its family'
	# shellcheck disable=SC2086
	machine=$($cc -dumpmachine 2>/dev/null | sed 's/-.*//; s/^powerpc64le$/ppc64le/') || true
	for need in $(value presets "$preset" requires); do
		case " $machines " in *" $machine "*) ;; *) break ;; esac
		case " $machines " in *" $need "*) ;; *) continue ;; esac
		[ "$need" = "$machine" ] ||
			die "preset '$preset' is for $need, '$cc' compiles for $machine" \
				'PRESET=gcc-o3 or clang-o3 is for any'
	done
}

plan() {
	preset=$1 program=$2 cc='' extra='' libs='' defs='' libhugetlbfs='' openmp=yes
	shift 2
	while [ $# -gt 0 ]; do
		case $1 in
		--stamp) stamp=$2 && shift ;;
		--cc=*) cc=${1#*=} ;;
		--extra=*) extra=${1#*=} ;;
		--libs=*) libs=${1#*=} ;;
		-D)
			printf '%s\n' "$2" | grep -Eqx '[A-Za-z_][A-Za-z0-9_]*=([1-9][0-9]*|[A-Za-z_][A-Za-z0-9_]*)' ||
				die "invalid value of ${2%%=*}: '${2#*=}', neither a whole number above 0 nor a name" \
					"'make help' lists the options"
			defs="$defs -D$2" && shift ;;
		--libhugetlbfs) libhugetlbfs=$2 && shift ;;
		--no-openmp) openmp= ;;
		*) die "'${1%%=*}' needs Python 3.8 or later" \
			"PYTHON=PATH names one" ;;
		esac
		shift
	done
	family=$(value presets "$preset" family)
	[ "$family" ] || die "unknown preset '$preset'" 'configs/presets.yaml has a row for each'
	[ "$cc" ] || cc=$(compiler_of "$family" "$(value families "$family" cc)")
	check_compiler
	line=$(value presets "$preset" line)
	case $line in
	*'{libhugetlbfs}'*) [ "$libhugetlbfs" ] ||
		die "preset '$preset' needs the path of libhugetlbfs" \
			'LIBHUGETLBFS=PATH (the folder with ldscripts, obj64)' ;;
	esac
	[ -z "$openmp" ] || openmp=$(value families "$family" openmp)
	line=$(printf '%s' "$line" | sed "s|{openmp}|$openmp|g; s|{defs}|$defs|g; s|{libhugetlbfs}|$libhugetlbfs|g")
	if [ "$(value families "$family" language)" = fortran ]; then
		sources="$program.f90 ${program}_f.c"
	else
		sources=$program.c
	fi
	eval "set -- $libs"
	libs=$(quoted "$@")
	eval "set -- $line $extra"
	text="# $(banner "$cc")
PLAN_CC := $cc
PLAN_FLAGS := $(quoted "$@" | sed 's/\$/$$/g; s/#/\\#/g')
PLAN_SOURCES := $sources
PLAN_LIBS := $libs"
	[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$text" ] && return
	mkdir -p "$(dirname "$stamp")"
	printf '%s\n' "$text" >"$stamp"
}

as_json() { # WORD
	printf '"%s"' "$(printf %s "$1" | sed 's/\\/\\\\/g; s/"/\\"/g')"
}

checksum() { # FILE, or what it reads; null where this system cannot
	if exists sha256sum; then as_json "$(sha256sum "$@" | cut -d' ' -f1)"; else printf null; fi
}

of_sources() { # FOLDER below src
	(cd "$here" && find "harness" "$1" -name '*.c' -o -name '*.h' -o -name '*.f90' |
		LC_ALL=C sort | xargs sha256sum 2>/dev/null | checksum)
}

record() {
	preset=$1 binary=$2 folder=$(cd "$4" && pwd)
	shift 5
	cc=
	for word in "$@"; do
		case $word in -*) break ;; esac
		cc="$cc $word"
	done
	{
		printf '{\n "program": %s,\n "built_with": "make",\n' "$(as_json "${folder##*/}")"
		printf ' "preset": %s,\n "compile_line": [' "$(as_json "$preset")"
		comma=
		for word in "$@"; do
			printf '%s\n  ' "$comma"
			as_json "$word"
			comma=,
		done
		printf '\n ],\n "compiler": %s,\n "mpi": null,\n "blas": null,\n' \
			"$(as_json "$(banner "${cc# }")")"
		printf ' "source_sha256": %s,\n' "$(of_sources "${folder##*/}")"
		printf ' "binary_sha256": %s,\n' "$(checksum "$binary")"
		printf ' "spec": null,\n "dag_hash": null\n}\n'
	} >"$binary.json"
}

case ${1:-} in
plan | record) "$@" ;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" ;;
esac

#!/bin/sh
# From a row of configs/presets.yaml to a compile line, and the record of a build: for make, and for
# Python by membw.presets.build.  It needs sh, the tools of POSIX and a compiler.
#
#   build.sh plan PRESET PROGRAM [OPTION]...   what make reads: another text, another binary
#     --stamp=FILE         into FILE, which keeps its time where the text is the same
#     --cc=CC --extra=WORDS --libs=WORDS --mpicc=MPICC --blas=ROW --libhugetlbfs=FOLDER
#     --define=NAME=VALUE --no-openmp
#   build.sh flags PRESET [OPTION]...          the options of the preset alone
#   build.sh default [CC]                      the preset that make takes where none is named
#   build.sh compilers                         FAMILY CC VERSION of all compilers on the PATH
#   build.sh compiler PRESET CC                the version of CC, which must be of the preset's family
#   build.sh cpu                               what the kernel says of this machine's CPU
#   build.sh blas ROW                          words before the sources, and those behind them
#   build.sh record PRESET BINARY FOLDER [--mpicc=MPICC] [--blas=ROW] -- LINE...
#                                              BINARY.json, of the line that made it
set -euf
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd)

die() { # FACT HINT
	printf 'membw: %s\nhint: %s\n' "$1" "$2" >&2
	exit 2
}

exists() { command -v "${1%% *}" >/dev/null 2>&1; }

quoted() { # WORD...: as a shell reads them again, only those in quotes that need it
	for word in "$@"; do
		case $word in
		'' | *[!A-Za-z0-9@%+=:,./_-]*)
			printf "'%s' " "$(printf %s "$word" | sed "s/'/'\"'\"'/g")" ;;
		*) printf '%s ' "$word" ;;
		esac
	done | sed 's/ $//'
}

read_tables() { # src/presets.sh, made anew where somebody edited a table
	sums=$(cat "$here/../configs/presets.yaml" "$here/../configs/blas.yaml" | cksum)
	# shellcheck source=src/presets.sh
	. "$here/presets.sh"
	[ "$made_of" != "$sums" ] || return 0
	PYTHONPATH=$here "${PYTHON:-python3}" -m membw.presets.generate || {
		[ $? = 2 ] || die 'src/presets.sh is not of this configs/presets.yaml' \
			'PYTHON=PATH: a Python with yaml makes it'
		exit 2
	}
	# shellcheck source=src/presets.sh
	. "$here/presets.sh"
}

# --- compilers -----------------------------------------------------------------------------------

banner() { # COMPILER, of one word or more: its line that a family knows, else the first of any text
	# before it may stand an empty line (nvc), icc's "deprecated", a complaint of the loader
	# shellcheck disable=SC2086
	said=$($1 --version 2>&1 </dev/null) || true
	printf '%s\n' "$said" | grep -E -e "$known" | sed -n 1p | grep . ||
		printf '%s\n' "$said" | grep . | sed -n 1p
}

family_of() { # BANNER: the last family that it is of
	of=
	for name in $families; do
		family_row "$name"
		! printf '%s\n' "$1" | grep -Eq -e "$version" || of=$name
	done
	echo "$of"
}

on_path() { # NAME...: those that are on the PATH, each with its NAME-VERSION, newest first
	files=$(
		IFS=:
		for place in $PATH; do ls "${place:-.}" 2>/dev/null || true; done | sort -u
	)
	for name in "$@"; do
		! exists "$name" || echo "$name"
		printf '%s\n' "$files" | grep -Ex "$name-[0-9][0-9.]*" | sort -t- -k2 -rn || true
	done
}

compiler_of() { # FAMILY: its compiler by its plain name, else its newest NAME-VERSION, else cc
	family_row "$1"
	plain=$compiler
	for found in $(on_path "$plain" cc); do
		[ "$(family_of "$(banner "$found")")" != "$1" ] || {
			echo "$found"
			return
		}
	done
	echo "$plain"
	return 1
}

machine_of() { # COMPILER: what it makes code for, if it says so
	# shellcheck disable=SC2086
	$1 -dumpmachine 2>/dev/null | sed 's/-.*//; s/^powerpc64le$/ppc64le/'
}

is_machine() { case " $machines " in *" ${1:-?} "*) ;; *) return 1 ;; esac; }

check_compiler() { # $cc is of the family of $preset, for a machine that the row is for
	exists "$cc" || die "compiler '$cc' of preset '$preset' not found" \
		"load its module, or CC=PATH; 'membw presets list' shows other presets"
	said=$(banner "$cc")
	[ "$(family_of "$said")" = "$family" ] ||
		die "'$cc' is not of family '$family' (preset '$preset'): '$said'" \
			'CC=PATH of another compiler, or a preset of its family'
	machine=$(machine_of "$cc")
	is_machine "$machine" || return 0
	for need in $requires; do
		[ "$need" = "$machine" ] || ! is_machine "$need" ||
			die "preset '$preset' is for $need, '$cc' compiles for $machine" \
				"PRESET=$(default "$cc")"
	done
}

version() { # COMPILER
	printf '%s\n' "$(banner "$1")" | grep -Eo -e "$known" | sed -n '1s/.*[^0-9.]//p'
}

compilers() {
	# shellcheck disable=SC2046
	for cc in $(on_path $(for of in $families; do
		family_row "$of" && echo "$compiler"
	done | sort -u)); do
		of=$(family_of "$(banner "$cc")")
		[ -z "$of" ] || printf '%s\t%s\t%s\n' "$of" "$cc" "$(version "$cc")"
	done
}

default() { # [CC]: the first row of its family that is for its machine, and for any CPU of it
	wanted=gcc cc=${1:-}
	if [ "$cc" ]; then
		exists "$cc" || die "compiler '$cc' not found" 'load its module, or CC=PATH'
		wanted=$(family_of "$(banner "$cc")")
	else
		for of in $families; do
			family_row "$of"
			[ "$language" = c ] && cc=$(compiler_of "$of") && wanted=$of && break
		done
	fi
	machine=$(machine_of "${cc:-gcc}")
	for name in $presets; do
		preset_row "$name"
		case "$family $requires" in "$wanted " | "$wanted ${machine:-$(uname -m)}")
			echo "$name"
			return ;;
		esac
	done
	echo gcc-o3
}

cpu() { # what the kernel says of this one
	LC_ALL=C sort -u /proc/cpuinfo 2>/dev/null | grep -Ei \
		'^(cpu|cpu (family|impl|arch|var|part|rev).*|model.*|stepping|flags|features|isa|uarch)[[:blank:]]*:' ||
		true
}

target_cpu() { # LINE...: the CPU that it makes code for, and a checksum of all that is known of it
	# -march=native is another CPU on each node: the compiler says which, else the kernel does
	cc=$1 last=
	shift
	for word in "$@"; do # all but sources and output
		shift
		case $last$word in -o* | *.c | *.f90) ;; *) set -- "$@" "$word" ;; esac
		[ "$word" = -o ] && last=-o || last=
	done
	# shellcheck disable=SC2086
	said=$({
		$cc "$@" -### -S -o /dev/null -x c /dev/null </dev/null || true
		banner "$cc"
	} 2>&1 | tr -d '"' | tr -s ' ' '\n' | sed -nE \
		'/^-(target-(cpu|feature)|tune-cpu|tp)$/{N;s/\n/=/p;d;}; /^(-m|-tp=|l[12]-cache)/p')
	cpu=$(printf '%s\n' "$said" | sed -nE 's/^-(march|mcpu|target-cpu|tp)=//p' | sed -n 1p)
	if [ -z "$cpu" ] && printf '%s\n' "$@" | grep -Eiq -e '^-[^DILWl].*(native|host)' -e '^-fast$'; then
		said=$(cpu)
		cpu=$(printf '%s\n' "$said" | sed -nE 's/^(model name|cpu|uarch|CPU part)[[:blank:]]*: *//p' | sed -n 1p)
	fi
	[ -z "$said" ] || echo "${cpu:-$(machine_of "$cc")} $(printf %s "$said" | cksum | cut -d' ' -f1)"
}

# --- a line --------------------------------------------------------------------------------------

read_options() { # [--NAME=VALUE]...
	cc='' extra='' libs='' mpicc='' blas='' stamp='' defs='' libhugetlbfs='' with_openmp=yes
	for option in "$@"; do
		value=${option#*=}
		case $option in
		--stamp=*) stamp=$value ;;
		--cc=*) cc=$value ;;
		--extra=*) extra=$value ;;
		--libs=*) libs=$value ;;
		--mpicc=*) mpicc=$value ;;
		--blas=*) blas=$value ;;
		--libhugetlbfs=*) libhugetlbfs=$value ;;
		--no-openmp) with_openmp= ;;
		--define=*)
			printf '%s\n' "$value" | grep -Eqx '[A-Za-z_][A-Za-z0-9_]*=([1-9][0-9]*|[A-Za-z_][A-Za-z0-9_]*)' ||
				die "invalid value of ${value%%=*}: '${value#*=}', neither a whole number above 0 nor a name" \
					"'make help' lists the options"
			defs="$defs -D$value" ;;
		*) die "unexpected argument '$option'" "the head of src/build.sh lists the options" ;;
		esac
	done
}

find_preset() { # PRESET: its row
	preset=$1
	preset_row "$preset" || die "unknown preset '$preset'" \
		"one of $presets; a new one is a row of presets.yaml"
	family_row "$family"
}

read_preset() { # PRESET [OPTION]...: $line is as `eval` takes it
	find_preset "$1"
	shift
	read_options "$@"
	case $line in *libhugetlbfs*) [ "$libhugetlbfs" ] ||
		die "preset '$preset' needs the path of libhugetlbfs" \
			'make: LIBHUGETLBFS=PATH, spack: libhugetlbfs=PATH (the folder with ldscripts, obj64)' ;;
	esac
	# shellcheck disable=SC2034 # of the line
	openmp=${with_openmp:+$openmp_option}
}

add_blas() { # ROW: to $compile, the words before the sources, and $link, those behind them
	blas_row "$1" || die "unknown BLAS '$1'" "one of $blas_rows; a new one is a row of blas.yaml"
	for name in $environment; do
		eval "[ \"\${$name:-}\" ]" || die "BLAS '$1' needs $name, which is not set" \
			'load the module of the library, or set it to the folder that it lies in'
	done
	set +f
	# shellcheck disable=SC2086
	set -- $folder
	set -f
	[ ! -d "${1:-}" ] || row_link="-L$(quoted "$1") -Wl,-rpath,$(quoted "$1") $row_link"
	eval "set -- $row_compile"
	compile="$compile $(quoted "$@")"
	eval "set -- $row_link"
	link="$link $(quoted "$@")"
}

add_mpi() { # MPICC: what the wrapper adds to a line
	exists "$1" || die "no '$1' on the PATH" 'load an MPI module, or MPICC=PATH'
	for option in -show --showme -compile-info ''; do # Open MPI, MPICH and its kin know one
		[ "$option" ] || die "'$1 -show' does not say what it adds" 'MPICC=PATH of another MPI compiler'
		shown=$("$1" $option 2>/dev/null) && [ "${shown#* }" != "$shown" ] && break
	done
	eval "set -- $shown"
	compile="$compile -DMEMBW_MPI"
	while [ $# -gt 1 ]; do
		shift
		word=$1 words=$(quoted "$1")
		case $word in -Xlinker | -[zLlTuID] | -isystem | -include) # its value is the next word
			[ $# -eq 1 ] || shift
			words="$words $(quoted "$1")" ;;
		esac
		case $word in
		-[lL]* | -Wl,* | -Xlinker | -[zTu] | -rdynamic | *.a | *.so | *.so.[0-9]*) link="$link $words" ;;
		*) compile="$compile $words" ;;
		esac
	done
}

blas() { # ROW
	compile='' link=''
	add_blas "$1"
	printf '%s\n%s\n' "$compile" "$link"
}

flags() { # PRESET [OPTION]...
	read_preset "$@"
	eval "set -- $line $extra"
	printf '%s\n' "$(quoted "$@")"
}

compiler() { # PRESET CC
	find_preset "$1"
	cc=$2
	check_compiler
	version "$cc"
}

plan() { # PRESET PROGRAM [OPTION]...
	preset=$1 program=$2 compile='' link=''
	shift 2
	read_preset "$preset" "$@"
	[ "$cc" ] || cc=$(compiler_of "$family") || true
	check_compiler
	[ -z "$blas" ] || add_blas "$blas"
	[ -z "$mpicc" ] || add_mpi "$mpicc"
	sources=$program.c
	[ "$language" != fortran ] || sources="$program.f90 ${program}_f.c"
	eval "set -- $link $libs"
	libs=$(quoted "$@")
	eval "set -- $line $extra $compile"
	text="# $(banner "$cc")
# code for $(target_cpu "$cc" "$@")
PLAN_CC := $cc
PLAN_FLAGS := $(quoted "$@" | sed 's/\$/$$/g; s/#/\\#/g')
PLAN_SOURCES := $sources
PLAN_LIBS := $(printf %s "$libs" | sed 's/\$/$$/g; s/#/\\#/g')"
	if [ -z "$stamp" ]; then
		printf '%s\n' "$text"
	elif [ "$(cat "$stamp" 2>/dev/null)" != "$text" ]; then
		mkdir -p "$(dirname "$stamp")"
		printf '%s\n' "$text" >"$stamp"
	fi
}

# --- the record ----------------------------------------------------------------------------------

as_json() { # [WORD]: null without one
	[ "${1:-}" ] || { printf null && return; }
	printf '"%s"' "$(printf %s "$1" | sed 's/\\/\\\\/g; s/"/\\"/g')"
}

checksum() { # [FILE]...: null where this system has no sha256sum
	as_json "$(sha256sum "$@" 2>/dev/null | cut -d' ' -f1)"
}

of_sources() { # PROGRAM
	(cd "$here" && find harness "$1" -name '*.c' -o -name '*.h' -o -name '*.f90' |
		LC_ALL=C sort | tr '\n' '\0' | xargs -0 sha256sum 2>/dev/null | checksum)
}

of_code() { # BINARY: as membw.presets.provenance has it; null where no objcopy reads it
	objcopy=$($cc -print-prog-name=objcopy 2>/dev/null) || objcopy=objcopy
	part=$1.$$ # two builds may write into one folder
	for section in .text .rodata; do
		"$objcopy" -O binary -j $section "$1" "$part$section" 2>/dev/null || true
		[ -f "$part$section" ] || : >"$part$section"
		printf '%s %d\n' $section "$(wc -c <"$part$section")"
		cat "$part$section"
	done >"$part.code"
	if [ -s "$part.text" ]; then checksum "$part.code"; else printf null; fi
	rm -f "$part.text" "$part.rodata" "$part.code"
}

record() { # PRESET BINARY FOLDER [OPTION]... -- LINE...
	preset=$1 binary=$2 program=$(cd "$3" && basename "$(pwd)")
	shift 3
	options=
	while [ "$1" != -- ]; do
		options="$options $(quoted "$1")"
		shift
	done
	shift
	line=$(quoted "$@")
	eval "read_options $options"
	for word in "$@"; do # a launcher may stand before the compiler
		case $word in -* | *.c) break ;; esac
		cc="${cc:+$cc }$word"
		shift
	done
	{
		printf '{\n "program": %s,\n "built_with": "make",\n' "$(as_json "$program")"
		printf ' "preset": %s,\n "compile_line": [' "$(as_json "$preset")"
		cpu=$(target_cpu "$cc" "$@")
		eval "set -- $line"
		comma=
		for word in "$@"; do
			printf '%s\n  ' "$comma"
			as_json "$word"
			comma=,
		done
		printf '\n ],\n "compiler": %s,\n "target_cpu": %s,\n' \
			"$(as_json "$(banner "$cc")")" "$(as_json "$cpu")"
		printf ' "mpi": %s,\n "blas": %s,\n' "$(as_json "$mpicc")" "$(as_json "$blas")"
		printf ' "source_sha256": %s,\n' "$(of_sources "$program")"
		printf ' "code_sha256": %s,\n' "$(of_code "$binary")"
		printf ' "binary_sha256": %s,\n' "$(checksum "$binary")"
		printf ' "spec": null,\n "dag_hash": null\n}\n'
	} >"$binary.json.$$"
	mv "$binary.json.$$" "$binary.json" # never seen in part
}

case ${1:-} in
plan | flags | default | compilers | compiler | cpu | blas | record)
	read_tables
	"$@"
	;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" ;;
esac

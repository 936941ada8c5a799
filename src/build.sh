#!/bin/sh
# From a row of configs/presets.yaml to a compile line, and the record of a build: for make, and for
# Python by membw.presets.build.  It needs sh, the tools of POSIX and a compiler.
#
#   build.sh plan PRESET PROGRAM [OPTION]...   what make reads: another text, another binary
#     --stamp=FILE         into FILE, which keeps its time where the text is the same
#     --cc=CC --extra=WORDS --libs=WORDS --mpicc=MPICC --blas=ROW --libhugetlbfs=FOLDER
#     --define=NAME=VALUE --no-openmp
#   build.sh flags PRESET [OPTION]...          the options of the preset alone
#   build.sh default [CC] [OPTION]...          the preset that make takes where none is named
#   build.sh compilers                         FAMILY CC VERSION of all compilers on the PATH, and why
#                                              one builds no OpenMP
#   build.sh compiler PRESET CC                the version of CC, which must be of the preset's family
#   build.sh cpu                               what the kernel says of this machine's CPU
#   build.sh blas ROW                          words before the sources, and those behind them
#   build.sh record PRESET BINARY FOLDER [--mpicc=MPICC] [--blas=ROW] -- LINE...
#                                              BINARY.json, of the line that made it
set -euf
unset CDPATH
export LC_ALL=C # compilers say "error" in it, and grep takes any bytes for text
exec 3>&2       # also of what is said where $cc's stderr is read
here=$(cd "$(dirname "$0")" && pwd)

die() { # FACT HINT
	printf 'membw: %s\n' "$1" >&2
	printf 'hint: %s\n' "$2" | fold -s -w 98 >&2
	exit 2
}

exists_whole() { command -v "$1" >/dev/null 2>&1; }

exists() { exists_whole "$1" || exists_whole "${1%% *}"; }

quoted() { # WORD...: as a shell reads them again, only those in quotes that need it
	for word in "$@"; do
		case $word in
		'' | *[!A-Za-z0-9@%+=:,./_-]*)
			printf "'%s' " "$(printf %s "$word" | sed "s/'/'\"'\"'/g")" ;;
		*) printf '%s ' "$word" ;;
		esac
	done | sed 's/ $//'
}

make_scratch() {
	scratch=$(mktemp -d) || die 'cannot make a temporary folder' 'TMPDIR=PATH of one that can be written'
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 2' HUP INT TERM
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

# $cc is one command, whose path may have blanks, or words: a launcher, options; it may wait for a
# licence without an end
with_cc() { # WORD...
	if exists_whole "$cc"; then
		set -- "$cc" "$@"
	else
		# shellcheck disable=SC2086
		set -- $cc "$@"
	fi
	if exists_whole timeout; then
		status=0
		timeout 30 "$@" 3>&- || status=$?
		[ "$status" != 124 ] || echo "membw: '$cc' did not answer within 30 s" >&3
		return "$status"
	fi
	"$@"
}

identify() { # CC: $of, the last family that it is of by its macros, $version, the bytes of $pointer
	cc=$1 of='' version='' pointer=''
	[ -s "$scratch/macros.c" ] || {
		echo 'membw pointer __SIZEOF_POINTER__'
		for name in $families; do
			family_row "$name" && echo "membw $name $macros"
		done
	} >"$scratch/macros.c"
	with_cc -E "$scratch/macros.c" >"$scratch/said" 2>/dev/null </dev/null || return 0
	while read -r word name values; do
		[ "$word" = membw ] || continue
		case $values in _*) continue ;; esac # a macro that it has not stays a name
		if [ "$name" = pointer ]; then
			pointer=$values
			continue
		fi
		family_row "$name" || continue
		values=$(printf %s "$values" | sed 's/" *"//g; /^"/!s/  */./g')
		printf '%s\n' "$values" | grep -Eq -e "$value" || continue
		case $language/${cc##*/} in
		fortran/*"$compiler"* | c/*) ;;
		*) continue ;;
		esac
		of=$name version=$values
	done <"$scratch/said"
	# 20240201 is 2024.2.1, 1310.3 is 13.1.3; AOCC and Arm say it in a text
	version=$(printf %s "$version" | sed -E 's/.*AOCC_([0-9.]+).*/\1/; s/^"[^0-9]*([0-9.]+).*/\1/
		s/^([0-9]{4})([0-9]{2})([0-9]{2})$/\1.\2.\3/; s/\.0([0-9])/.\1/g; s/^(1[0-9])([0-9])0\./\1.\2./' |
		tr -cd 0-9.)
}

banner() { # its line, of what $cc says of itself, that has $version, else the first of any text
	# before it may stand an empty line (nvc), icc's "deprecated", a complaint of the loader
	said=$(with_cc --version 2>&1 </dev/null) || true
	printf '%s\n' "$said" | grep -F -e "${version:-no version}" | sed -n 1p | grep . ||
		printf '%s\n' "$said" | grep . | sed -n 1p
}

why_no_openmp() { # of $cc by $openmp_option: nothing where it builds with it
	# that is remembered, for each node of a checkout; what is missing may be installed at any time
	key="$openmp_option $(uname -n) $cc $(ls -lLn "$(command -v "$cc" || command -v "${cc%% *}")" 2>&1)"
	known=$here/../build/openmp-compilers
	! grep -Fqxs -e "$key" "$known" || return 0
	echo '#include <omp.h>
int main(void) { return omp_get_max_threads() < 1; }' >"$scratch/probe.c"
	if why=$(with_cc "$openmp_option" "$scratch/probe.c" -o "$scratch/probe" 2>&1 </dev/null); then
		{ mkdir -p "${known%/*}" && printf '%s\n' "$key" >>"$known"; } 2>/dev/null || true
		return
	fi
	{
		printf '%s\n' "$why" | grep error || printf '%s\n' "$why" | grep . || echo 'it says nothing'
	} | sed -n "1s|$scratch/||p"
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

compiler_of() { # FAMILY: its first that builds OpenMP, if that is wanted, into $cc, else its first
	family_row "$1"
	first=
	for found in $(on_path "$compiler" cc); do
		identify "$found"
		[ "$of" = "$1" ] || continue
		first=${first:-$cc}
		family_row "$1"
		[ "$with_openmp" ] && [ "$(why_no_openmp)" ] || return 0
	done
	family_row "$1"
	cc=${first:-$compiler}
	return 1
}

machine_of() { # what $cc makes code for, if it says so
	with_cc -dumpmachine 2>/dev/null | sed 's/-.*//; s/^powerpc64le$/ppc64le/'
}

is_machine() { case " $machines " in *" ${1:-?} "*) ;; *) return 1 ;; esac; }

check_compiler() { # $cc is of the family of $preset, for a machine that the row is for
	exists "$cc" || die "compiler '$cc' of preset '$preset' not found" \
		"load its module, or CC=PATH; 'membw presets list' shows other presets"
	identify "$cc"
	[ "$of" = "$family" ] || {
		known=$(banner)
		other=$(default_of "$of")
		die "'$cc' is not of family '$family' (preset '$preset'): '$known'" \
			"${other:+PRESET=$other, or }CC=PATH of another compiler"
	}
	[ "$pointer" != 4 ] || die "'$cc' makes code of 32 bits" 'membw needs 64: CC=PATH of another'
	family_row "$family"
	machine=$(machine_of)
	is_machine "$machine" || return 0
	for need in $requires; do
		[ "$need" = "$machine" ] || ! is_machine "$need" ||
			die "preset '$preset' is for $need, '$cc' compiles for $machine" \
				"PRESET=$(default_of "$of")"
	done
}

check_openmp() { # that $cc builds with it, if that is wanted
	[ "$with_openmp" ] || return 0
	why=$(why_no_openmp)
	[ -z "$why" ] || case $of in
	clang) die "'$cc' does not build with $openmp_option: $why" \
		"install libomp-dev (of clang-19: libomp-19-dev; Fedora, SUSE: libomp-devel), or OPENMP=0" ;;
	*) die "'$cc' does not build with $openmp_option: $why" 'OPENMP=0 builds for one thread' ;;
	esac
}

compilers() {
	# shellcheck disable=SC2046
	for found in $(on_path $(for name in $families; do
		family_row "$name" && echo "$compiler"
	done | sort -u)); do
		identify "$found"
		[ "$of" ] || continue
		family_row "$of"
		printf '%s\t%s\t%s\t%s\n' "$of" "$cc" "$version" "$(why_no_openmp)"
	done
}

default_of() { # FAMILY: its first row that is for the machine of $cc, and for any CPU of it
	[ "$1" ] || return 0
	machine=$(machine_of)
	for name in $presets; do
		preset_row "$name"
		case "$family $requires" in "$1 " | "$1 ${machine:-$(uname -m)}")
			echo "$name"
			return ;;
		esac
	done
}

default() { # [CC] [OPTION]...: of that compiler, else of the first family that is there
	wanted=
	case ${1:-} in --*) set -- '' "$@" ;; '') [ $# -gt 0 ] || set -- '' ;; esac
	chosen=$1
	shift
	read_options "$@"
	if [ "$chosen" ]; then
		exists "$chosen" || die "compiler '$chosen' not found" 'load its module, or CC=PATH'
		identify "$chosen"
		[ "$of" ] || die "'$chosen' is of no family of configs/presets.yaml: '$(banner)'" \
			'CC=PATH of another compiler, or PRESET=gcc-o3 for one that takes its options'
		wanted=$of
	else
		for family in $families; do
			family_row "$family"
			[ "$language" = c ] || continue
			if compiler_of "$family"; then
				wanted=$family
				break
			elif [ "$first" ]; then # of one without OpenMP, if there is no other
				wanted=${wanted:-$family}
			fi
		done
		[ -z "$wanted" ] || compiler_of "$wanted" || true
	fi
	name=$(default_of "${wanted:-gcc}")
	echo "${name:-gcc-o3}"
}

cpu() { # what the kernel says of this one
	sort -u /proc/cpuinfo 2>/dev/null | grep -Ei \
		'^(cpu|cpu (family|impl|arch|var|part|rev).*|model.*|stepping|flags|features|isa|uarch)[[:blank:]]*:' ||
		true
}

target_cpu() { # LINE...: the CPU that $cc makes code for, and a checksum of all that is known of it
	# -march=native is another CPU on each node: the compiler says which, else the kernel does
	last=
	for word in "$@"; do # all but sources and output
		shift
		case $last$word in -o* | *.c | *.f90) ;; *) set -- "$@" "$word" ;; esac
		[ "$word" = -o ] && last=-o || last=
	done
	said=$({
		with_cc "$@" -### -S -o /dev/null -x c /dev/null </dev/null || true
		banner
	} 2>&1 | tr -d '"' | tr -s ' ' '\n' | sed -nE \
		'/^-(target-(cpu|feature)|tune-cpu|tp)$/{N;s/\n/=/p;d;}; /^(-m|-tp=|l[12]-cache)/p')
	cpu=$(printf '%s\n' "$said" | sed -nE 's/^-(march|mcpu|target-cpu|tp)=//p' | sed -n 1p)
	if [ -z "$cpu" ] && printf '%s\n' "$@" | grep -Eiq -e '^-[^DILWl].*(native|host)' -e '^-fast$'; then
		said=$(cpu)
		cpu=$(printf '%s\n' "$said" | sed -nE 's/^(model name|cpu|uarch|CPU part)[[:blank:]]*: *//p' | sed -n 1p)
	fi
	[ -z "$said" ] || echo "${cpu:-$(machine_of)} $(printf %s "$said" | cksum | cut -d' ' -f1)"
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
	said=
	for option in -show --showme -compile-info ''; do # Open MPI, MPICH and its kin know one
		# shellcheck disable=SC2016 # quotes around what it says
		[ "$option" ] || die "'$1 -show' does not say what it adds${said:+: '$said'}" \
			'MPICC=PATH of another MPI compiler'
		shown=$("$1" $option 2>"$scratch/said") && [ "${shown#* }" != "$shown" ] && break
		said=${said:-$(grep . "$scratch/said" | sed -n 1p)}
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
	echo "$version"
}

plan() { # PRESET PROGRAM [OPTION]...
	preset=$1 program=$2 compile='' link=''
	shift 2
	read_preset "$preset" "$@"
	[ "$cc" ] || compiler_of "$family" || true
	check_compiler
	check_openmp
	[ -z "$blas" ] || add_blas "$blas"
	[ -z "$mpicc" ] || add_mpi "$mpicc"
	sources=$program.c
	[ "$language" != fortran ] || sources="$program.f90 ${program}_f.c"
	eval "set -- $link $libs"
	libs=$(quoted "$@")
	eval "set -- $line $extra $compile"
	text="# $(banner)
# code for $(target_cpu "$@")
PLAN_CC := $(if exists_whole "$cc"; then quoted "$cc"; else echo "$cc"; fi)
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
		sort | tr '\n' '\0' | xargs -0 sha256sum 2>/dev/null | checksum)
}

of_code() { # BINARY: as membw.codegen.elf has it; null where no objcopy reads it
	objcopy=$(with_cc -print-prog-name=objcopy 2>/dev/null) || objcopy=objcopy
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
		identify "$cc"
		cpu=$(target_cpu "$@")
		eval "set -- $line"
		comma=
		for word in "$@"; do
			printf '%s\n  ' "$comma"
			as_json "$word"
			comma=,
		done
		printf '\n ],\n "compiler": %s,\n "target_cpu": %s,\n' \
			"$(as_json "$(banner)")" "$(as_json "$cpu")"
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
	make_scratch
	"$@"
	;;
*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" ;;
esac

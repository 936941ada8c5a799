#!/bin/bash
# Man pages of membw's commands and of programs that were built, by help2man from their --help.
#
# usage: ci/man.sh FOLDER [PROGRAM ...]     FOLDER/man1 gets the pages: man -M FOLDER membw-run
set -euo pipefail

die() {
	echo "membw: $1" >&2
	echo "hint: $2" >&2
	exit 2
}

[ $# -gt 0 ] || die 'no folder for the pages' 'usage: ci/man.sh FOLDER [PROGRAM ...]'
command -v help2man >/dev/null || die "no 'help2man' on the PATH" 'it is a package of every distribution'
mkdir -p "$1/man1"
pages=$(cd "$1/man1" && pwd -P)
shift
version=$(membw --version | cut -d' ' -f2)

page() { # NAME ABOUT COMMAND: help2man would call 'membw run' MEMBW
	help2man --no-info --version-string="$version" --name="$2" "$3" |
		sed -e "s/^\.TH [^ ]*/.TH ${1^^}/" -e "s/^${3##*/} \\\\- /${1//-/\\\\-} \\\\- /" >"$pages/$1.1"
}

page membw 'measures, judges and compares the memory bandwidth of compute nodes' membw
python -c '
from membw.cli import build_parser
for command in build_parser()._subparsers._group_actions[0]._choices_actions:
    print(command.dest, command.help, sep="\t")' |
	while IFS=$'\t' read -r name about; do
		page "membw-$name" "$about" "membw $name" </dev/null
	done
for program; do
	page "${program##*/}" 'a benchmark of membw, with evidence and a verdict' "$program"
done
echo "man pages in $pages"

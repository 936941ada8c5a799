#!/bin/sh
# Releases the last commit: a commit with the version, its tag, a commit after it. Nothing is pushed.
#
# usage: ci/release.sh VERSION NEXT            as in: ci/release.sh 1.1.0 1.2.0-dev
#
# The first commit has the version, the head of the changelog and the recipe's line with the tag.
# Spack also wants the tag's commit in that line. No commit holds its own hash: the second adds it.
set -eu
unset CDPATH
cd "$(dirname "$0")/.."

die() {
	printf "membw: %s\n" "$1" >&2
	printf "hint: %s\n" "$2" >&2
	exit 2
}

[ $# = 2 ] || die "a version and the next one are needed" 'ci/release.sh 1.1.0 1.2.0-dev'
expr "$1" : '[0-9]*\.[0-9]*\.[0-9]*$' >/dev/null || die "invalid version '$1'" 'as in 1.1.0'
[ -z "$(git status --porcelain)" ] || die 'the working tree differs from the last commit' 'commit first'
! git rev-parse --quiet --verify "refs/tags/v$1" >/dev/null || die "tag 'v$1' exists" 'take the next version'
recipe=spack-repo/spack_repo/membw/packages/membw/package.py

set_version() { # VERSION
	sed -i "s/^#define MEMBW_VERSION .*/#define MEMBW_VERSION \"$1\"/" src/harness/config.h
	sed -i "s/^version: .*/version: $1/" CITATION.cff
}

set_version "$1"
sed -i "s/^version = .*/version = '$1'/" ci/entries/membw.eb
sed -i "s/^## Unreleased\$/## Unreleased\n\n## $1 - $(date -u +%F)/" CHANGELOG.md
sed -i "s/^    # releases: .*/&\n    version(\"$1\", tag=\"v$1\")/" "$recipe"
git commit --quiet --all --message "release: $1"
git tag --annotate --message "membw $1" "v$1"

sed -i "s/tag=\"v$1\")/tag=\"v$1\", commit=\"$(git rev-parse HEAD)\")/" "$recipe"
set_version "$2"
git commit --quiet --all --message "release: $2 begins; the recipe knows the commit of $1"

sh ci/release-files.sh "$1"
echo "release: tag v$1, files in build/membw-$1; to publish: git push origin HEAD v$1"

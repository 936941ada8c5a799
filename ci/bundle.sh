#!/bin/bash
# Packs all that a machine without network needs into one archive: this checkout's last commit,
# the pinned Python packages, Spack and its package repository, and checksums of it all.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."
root=$PWD
# shellcheck source=ci/versions.env
. ci/versions.env

usage() {
	cat <<'EOF'
usage: make bundle [ARGS='OPTION ...']        or ci/bundle.sh [OPTION ...]

  --output FOLDER     where the archive goes (default: build)
  --python VERSION    Python over there, as in 3.12; repeat for several (default: this one)
  --platform TAG      pip's name of the machine over there (default: this one), as in
                      manylinux_2_28_aarch64; repeat for several
  --last-commit       pack the last commit though there are changes since
  -h, --help          this text

There:  tar xf membw-*.tar.gz && cd membw-*/ && make run
EOF
}

die() {
	echo "membw: $1" >&2
	echo "hint: $2" >&2
	exit 2
}

output=$root/build
pythons=()
platforms=()
last_commit=
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage && exit ;;
	--last-commit) last_commit=yes && shift && continue ;;
	--output | --python | --platform)
		[ $# -gt 1 ] || die "'$1' needs a value" "'ci/bundle.sh --help' lists the options" ;;&
	--output) output=$2 ;;
	--python) pythons+=("$2") ;;
	--platform) platforms+=(--platform "$2") ;;
	*) die "unknown option '$1'" "'ci/bundle.sh --help' lists the options" ;;
	esac
	shift 2
done

[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$root" ] ||
	die "'$root' is not a git checkout, and the bundle packs committed files" \
		'make the bundle in a clone of the repository'
[ -n "$last_commit" ] || [ -z "$(git status --porcelain)" ] ||
	die "'$root' has changes that are not committed: the bundle would not hold them" \
		'commit them, or give --last-commit'
sh ci/setup.sh
[ -e .spack/packages/.git ] ||
	die "'.spack' has no Spack to pack" 'make setup, on a machine that reaches GitHub'

version=$(sed -n 's/^#define MEMBW_VERSION "\(.*\)"/\1/p' src/harness/config.h)
name=membw-$version-$(git rev-parse --short=10 HEAD)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
top=$work/$name

say() { # WHAT COMMAND...: with the seconds it took
	local what=$1 begun=$SECONDS
	shift
	echo "bundle: $what"
	"$@"
	echo "bundle: ... done in $((SECONDS - begun)) s"
}

pack_checkout() { # with its git data, so that records over there know the commit
	git clone --quiet --depth 1 "file://$root" "$top"
	git -C "$top" remote remove origin
	mkdir "$top/offline"
	echo "$(git rev-parse HEAD) $(git log -1 --format=%cI)" >"$top/offline/COMMIT"
}

fetch_wheels() {
	local python
	[ ${#pythons[@]} -gt 0 ] ||
		pythons=("$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')")
	for python in "${pythons[@]}"; do
		.venv/bin/python ci/pins.py ci/requirements.txt "$python" ${platforms[1]:+"${platforms[1]}"} >"$work/pins"
		.venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
			--only-binary :all: --python-version "$python" "${platforms[@]}" \
			--dest "$top/offline/wheels" -r "$work/pins" ||
			die "pip could not fetch the packages for Python $python (its reason is above)" \
				'check the network; is every package available for that --platform?'
	done
}

pack_clone() { # NAME URL TAG COMMIT: the one pinned commit, as a bare repository
	local folder=$root/.spack/$1 bare=$top/offline/$1.git
	if [ "$(git -C "$folder" rev-parse HEAD 2>/dev/null)" != "$4" ]; then
		git clone --quiet --bare --depth 1 --branch "$3" "$2" "$bare"
	else
		git clone --quiet --bare --depth 1 "file://$folder" "$bare"
		git -C "$bare" tag --force "$3" "$4" >/dev/null
	fi
	[ "$(git -C "$bare" rev-parse "$3^{commit}")" = "$4" ] ||
		die "'$2' has another commit at $3 than $4" 'has ci/versions.env been edited?'
	rm -rf "$bare/hooks"
}

# What Spack takes to build a row: its compiler wrapper, from v2026.06.0 on by the network.
pack_sources() {
	(. ./setup-env.sh && spack mirror create --directory "$top/offline/sources" \
		--dependencies membw@develop) >"$work/mirror.log" 2>&1 || {
		tail -n 5 "$work/mirror.log" >&2
		die 'Spack could not fetch the sources of its own packages (its reason is above)' \
			'make the bundle on a machine that reaches them'
	}
}

# What Spack reads off 8,600 packages before its first answer: 650 KB that take it a minute.
pack_index() {
	local kind
	for kind in providers patches tags; do
		mkdir -p "$top/offline/index/$kind"
		cp .spack/cache/cache/$kind/builtin-*.json "$top/offline/index/$kind"
	done
}

checksums() {
	(cd "$top/offline" && find . -type f -print0 | sort -z | xargs -0 sha256sum) >"$work/sums"
	mv "$work/sums" "$top/offline/SHA256SUMS"
}

archive() { # wheels and git packs are compressed already
	mkdir -p "$output"
	tar --sort=name --owner=0 --group=0 --numeric-owner -C "$work" -cf - "$name" |
		gzip -1n >"$output/$name.tar.gz.part"
	mv "$output/$name.tar.gz.part" "$output/$name.tar.gz"
	(cd "$output" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
}

say "the checkout at $(git rev-parse --short=10 HEAD)" pack_checkout
say 'the pinned Python packages' fetch_wheels
say "Spack $SPACK_TAG" pack_clone spack "$SPACK_URL" "$SPACK_TAG" "$SPACK_COMMIT"
say "its package repository $PACKAGES_TAG" \
	pack_clone packages "$PACKAGES_URL" "$PACKAGES_TAG" "$PACKAGES_COMMIT"
say 'what Spack takes to build a row' pack_sources
say 'the index of its packages' pack_index
say 'checksums' checksums
say 'the archive' archive
echo "bundle: parts: $(cd "$top/offline" && du -sh -- * | awk '{print $2 " " $1}' | paste -sd, |
	sed 's/,/, /g')"
echo "bundle: $(du -h "$output/$name.tar.gz" | cut -f1) in $output/$name.tar.gz (and .sha256)"
echo "bundle: there: tar xf $name.tar.gz && cd $name && make run"

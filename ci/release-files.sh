#!/bin/sh
# Writes what is published of a release into build/membw-VERSION: the same bytes each time.
#
# usage: ci/release-files.sh VERSION           of the tag vVERSION; needs the network for the SBOM
#
# Source archive, wheel, SBOM (CycloneDX), and against that archive the files for Spack's builtin
# repository, EasyBuild, conda-forge and Debian. RELEASES in ci/versions.env is where it will lie.
set -eu
unset CDPATH
umask 022
cd "$(dirname "$0")/.."
# shellcheck source=ci/versions.env
. ci/versions.env

version=$1
git rev-parse --quiet --verify "refs/tags/v$version" >/dev/null || {
	printf "membw: no tag 'v%s'\nhint: ci/release.sh makes it\n" "$version" >&2
	exit 2
}
name=membw-$version
out=$PWD/build/$name
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "v$version")
export SOURCE_DATE_EPOCH
rm -rf "$out"
mkdir -p "$out"

git archive --format=tar --prefix="$name/" "v$version" | gzip -n9 >"$out/$name.tar.gz"
sha256=$(sha256sum "$out/$name.tar.gz" | cut -d' ' -f1)
tar -xzf "$out/$name.tar.gz" -C "$work"
sources=$work/$name

"${PYTHON:-python3}" -m pip wheel --quiet --disable-pip-version-check --no-deps \
	--no-build-isolation --wheel-dir "$out" "$sources"

# the tool reads no version that setup.py finds
sed -i "s/^dynamic = .*/version = \"$version\"/" "$sources/pyproject.toml"
if [ -z "${CYCLONEDX:-}" ]; then
	python3 -m venv "$work/sbom"
	"$work/sbom/bin/pip" install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0
	CYCLONEDX=$work/sbom/bin/cyclonedx-py
fi
"$CYCLONEDX" requirements --pyproject "$sources/pyproject.toml" --output-reproducible \
	--output-file "$out/$name.cdx.json" "$sources/ci/requirements.txt"

filled() { # TEMPLATE: with this release's version, address, checksum and date
	sed -e "s|@VERSION@|$version|; s|@RELEASES@|$RELEASES|; s|@SHA256@|$sha256|" \
		-e "s|@DATE@|$(date -u -R -d "@$SOURCE_DATE_EPOCH")|" "$1"
}
mkdir -p "$out/conda-forge" "$out/debian/source"
filled "$sources/ci/packaging/recipe.yaml" >"$out/conda-forge/recipe.yaml"
for file in control rules changelog copyright source/format source/lintian-overrides; do
	filled "$sources/ci/packaging/debian/$file" >"$out/debian/$file"
done
chmod +x "$out/debian/rules"
sed '1,/^Copyright/d; /./!d; s/^/ /' "$sources/LICENSE" >>"$out/debian/copyright"
sed -e "s/^version = .*/version = '$version'/; s|^homepage = .*|homepage = '$RELEASES'|" \
	-e "/^# The archive:/,/^#   git/d" \
	-e "s|^sources = .*|source_urls = ['$RELEASES']\n&\nchecksums = ['$sha256']|" \
	"$sources/ci/entries/membw.eb" >"$out/$name.eb"
if command -v spack >/dev/null; then
	spack python ci/collection.py "$out/spack" "$RELEASES/$name.tar.gz" "$sha256" >/dev/null
else
	echo "membw: left out is the recipe for Spack's builtin repository: no 'spack' here" >&2
	echo "hint: make setup, then ci/in-env sh ci/release-files.sh $version" >&2
fi
(cd "$out" && find . -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum >"$work/sums")
mv "$work/sums" "$out/SHA256SUMS"
echo "$sha256  build/$name/$name.tar.gz"

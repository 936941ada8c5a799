#!/bin/bash
# A Debian file tree with a C compiler, make and little else (no Python), and the emulator for it; of
# another release with clang, and without gcc.
#
# usage: tests/machines/userland.sh amd64|arm64|trixie-amd64 FOLDER
# shellcheck source=tests/machines/apt.sh
. "$(dirname "$0")/apt.sh"

[ "$release" = "$arch" ] && compiler=gcc || compiler=clang
apt-get "${options[@]}" install -y --download-only --no-install-recommends \
	"$compiler" libc6-dev make dash coreutils sed grep mawk findutils bash >/dev/null

rm -rf "${folder:?}"/*
mkdir -p "$folder"/{proc,sys,dev,tmp,usr/bin,usr/lib,usr/sbin}
ln -s usr/bin usr/lib usr/sbin "$folder"
for package in "$room"/cache/archives/*.deb; do
	dpkg --fsys-tarfile "$package" | tar -x -C "$folder" --keep-directory-symlink
done
ln -sf mawk "$folder/usr/bin/awk" # what update-alternatives does
rm -rf "$folder"/usr/share/{doc,man,locale,info}
if [ "$arch" != "$(dpkg --print-architecture)" ]; then
	(cd "$room" && apt-get -qq -o APT::Sandbox::User=root download qemu-user-static)
	dpkg --fsys-tarfile "$room"/qemu-user-static_*.deb | tar -x -C "$folder" --wildcards '*/qemu-aarch64-static'
fi

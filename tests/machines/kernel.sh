#!/bin/bash
# A Debian kernel for the machines of this folder: its image, a few modules, and a busybox.
#
# usage: tests/machines/kernel.sh amd64|arm64|ppc64el FOLDER
# shellcheck source=tests/machines/apt.sh
. "$(dirname "$0")/apt.sh"

name=linux-image-${arch/ppc64el/powerpc64le}
package=$(apt-cache "${options[@]}" depends "$name" |
	sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\)/\1/p' | head -1)
(cd "$room/packages" && apt-get "${options[@]}" download "$package" busybox-static)

for package in "$room"/packages/*.deb; do
	dpkg --fsys-tarfile "$package" | tar -x -C "$room/packages" --wildcards './boot/vmlinu*' \
		'*/bin/busybox' '*/virtio*.ko*' '*/netfs.ko*' '*/fscache.ko*' '*/9p*.ko*' '*/overlay.ko*' \
		2>/dev/null || true # each pattern is in one of the two
done

rm -rf "${folder:?}"/*
mkdir "$folder/modules"
cp "$room"/packages/boot/vmlinu* "$folder/vmlinuz"
cp "$(find "$room/packages" -path '*bin/busybox')" "$folder/busybox"
# a newer kernel has some built in, others compressed
find "$room/packages/lib/modules" -name '*.ko*' | while read -r module; do
	case $module in
	*/virtio.ko* | */virtio_ring.ko* | */virtio_pci*.ko* | */netfs.ko* | */fscache.ko* | */9pnet.ko* | \
		*/9pnet_virtio.ko* | */9p.ko* | */overlay.ko*) cp "$module" "$folder/modules" ;;
	esac
done
find "$folder/modules" -name '*.xz' -exec xz -d {} +

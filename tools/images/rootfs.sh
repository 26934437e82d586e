#!/bin/sh
# rootfs.sh OUT.tar [--needs] PACKAGE…: files of Debian packages as an archive that `podman import` takes; with --needs, of all
# that they need too. Nothing is configured: no scripts of packages run. The same packages make the same archive. Wants apt.
set -eu
out=$1
shift
epoch=${SOURCE_DATE_EPOCH:-0}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/deb" "$work/root/var/lib/dpkg/status.d" "$work/root/etc/ssl/certs" "$work/root/tmp" "$work/root/root"
umask 022

if [ "$1" = --needs ]; then
  shift
  : >"$work/status"
  list() { apt-get install -y --no-install-recommends --print-uris -o Dir::State::status="$work/status" "$@"; }
else
  list() { apt-get download --print-uris "$@"; }
fi
list "$@" | sed -n "s/^'\([^']*\)' \([^ ]*\) .*/\1 \2/p" >"$work/list"
# Names with their versions: what apt would install for them is known, and it checks what it fetches.
names=$(sed 's/^[^ ]* //; s/%3a/:/g; s/^\([^_]*\)_\([^_]*\)_.*/\1=\2/' "$work/list")
# As root apt hands over to a user that may not write here.
chmod 777 "$work" "$work/deb"
# shellcheck disable=SC2086 # a list of package names
(cd "$work/deb" && apt-get download -q $names >"$work/log" 2>&1) || { cat "$work/log" >&2; exit 1; }

for deb in "$work"/deb/*.deb; do
  name=$(dpkg-deb -f "$deb" Package)
  # A package whose folder would take the place of a link, or the other way round, does not come here.
  dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work/root" --keep-directory-symlink
  dpkg-deb -f "$deb" Package Version Architecture Source >"$work/root/var/lib/dpkg/status.d/$name"
done
if [ -d "$work/root/usr/share/ca-certificates" ]; then
  find "$work/root/usr/share/ca-certificates" -name '*.crt' | LC_ALL=C sort | xargs cat >"$work/root/etc/ssl/certs/ca-certificates.crt"
fi
printf '%s\n' root:x:0:0:root:/root:/sbin/nologin postgres:x:999:999::/tmp:/sbin/nologin nonroot:x:65532:65532::/tmp:/sbin/nologin >"$work/root/etc/passwd"
printf '%s\n' root:x:0: postgres:x:999: nonroot:x:65532: >"$work/root/etc/group"
rm -rf "$work/root/usr/share/doc" "$work/root/usr/share/man" "$work/root/usr/share/locale" "$work/root/usr/share/lintian"
chmod 1777 "$work/root/tmp"
tar -c -C "$work/root" --sort=name --numeric-owner --owner=0 --group=0 --mtime="@$epoch" --format=gnu . >"$out.part"
mv "$out.part" "$out"

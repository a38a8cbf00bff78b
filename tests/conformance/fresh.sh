#!/bin/sh
# fresh.sh BUILD: README's two commands in a new Debian 12 root, as a new user would run them.
#
# The root is made anew with debootstrap from the mirror that this machine's apt uses, gets a clone
# of the last commit, and runs `sh setup.sh && ninja demo`, then `sh setup.sh && ninja test`.  Needs
# root.
set -eu
build=$1
root=$build/debian12
command -v debootstrap >/dev/null || { echo "fresh.sh: debootstrap is needed" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "fresh.sh: must run as root" >&2; exit 1; }

unset TMPDIR # the root has no such folder
# shellcheck source=tests/conformance/mirror.sh
. tests/conformance/mirror.sh

rm -rf "$root"
mkdir -p "$root"
debootstrap --variant=minbase bookworm "$root" "$(mirror)" >"$build/debian12.log" 2>&1 ||
    { tail -n 5 "$build/debian12.log" >&2; exit 1; }
rm -f "$root/etc/apt/sources.list"
cp -r /etc/apt/sources.list.d "$root/etc/apt/"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
[ ! -d /etc/apt/apt.conf.d ] || cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
rm -f "$root"/etc/apt/sources.list.d/*.list
git clone -q . "$root/spvfuse"

export root
exec unshare -m sh -eu -c '
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    chroot "$root" sh -c "cd spvfuse && sh setup.sh && ninja demo && sh setup.sh && ninja test"'

#!/bin/sh
# packages.sh BUILD: builds the packages for Debian, installs them in a new Debian 12 root with apt, uses
# each of them there, and removes them.  Needs root, lintian and debootstrap.  Then
# `sh setup.sh build && ninja` in the same root, if `build` is given after BUILD.
set -eu
build=$1
root=$(mktemp -d)
for tool in debootstrap dh lintian; do
    command -v $tool >/dev/null || { echo "packages.sh: $tool is needed" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "packages.sh: must run as root" >&2; exit 1; }
trap 'rm -rf "$root"' EXIT

unset TMPDIR # the root has no such folder
# shellcheck source=tests/conformance/mirror.sh
. tests/conformance/mirror.sh

sh runtime/packaging/deb.sh "$build"
debootstrap --variant=minbase bookworm "$root" "$(mirror)" >"$build/packages.log" 2>&1 ||
    { tail -n 5 "$build/packages.log" >&2; exit 1; }
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
[ ! -d /etc/apt/apt.conf.d ] || cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
mkdir "$root/work"
cp "$build"/deb/*.deb "$build/bench/saxpy.spv" "$build/bench/scale.spv" docs/examples/* \
    tests/packaging/use.sh "$root/work"
[ "${2-}" != build ] || git clone -q . "$root/spvfuse"
export root what="${2-}"
unshare -m sh -eu -c '
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    chroot "$root" sh /work/use.sh
    [ "$what" != build ] || chroot "$root" sh -c "cd spvfuse && sh setup.sh build && ninja && build/spvfuse devices"'

#!/bin/sh
# newcomer.sh BUILD: the commands of README's "Ten commands to a fused kernel of your own" in a new
# Debian 12 root, one after another, as they are copied.  Prints how long each took, and fails if one
# fails, or there are not ten.  Needs root and debootstrap; the root has git, and a clone of the last commit.
set -eu
build=$1
root=$(mktemp -d)
command -v debootstrap >/dev/null || { echo "newcomer.sh: debootstrap is needed" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "newcomer.sh: must run as root" >&2; exit 1; }
trap 'rm -rf "$root"' EXIT

unset TMPDIR # the root has no such folder
# shellcheck source=tests/conformance/mirror.sh
. tests/conformance/mirror.sh

debootstrap --variant=minbase bookworm "$root" "$(mirror)" >"$build/newcomer.log" 2>&1 ||
    { tail -n 5 "$build/newcomer.log" >&2; exit 1; }
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
[ ! -d /etc/apt/apt.conf.d ] || cp -r /etc/apt/apt.conf.d "$root/etc/apt/"
git clone -q . "$root/spvfuse"

# A file for each command: a line with all of the text that it reads.
mkdir "$root/commands"
awk -v to="$root/commands" '
    /^##/ { section = /Ten commands/ }
    /^```/ { on = section && /^```sh$/; next }
    !on { next }
    !until { file = sprintf("%s/%02d", to, ++n) }
    { print > file }
    until && $0 == until { until = ""; next }
    !until && match($0, /<<'\''[A-Z]+'\''/) { until = substr($0, RSTART + 3, RLENGTH - 4) }
' README.md
[ "$(ls "$root/commands" | wc -l)" = 10 ] || { echo "newcomer.sh: README has not ten commands" >&2; exit 1; }

cat >"$root/run.sh" <<'S'
cd /spvfuse
TIMEFORMAT='%3R s, processors %3U s'
for command in /commands/*; do
    head -n 1 "$command"
    time bash -e "$command" >/said 2>&1 </dev/null || { cat /said; echo "FAIL"; exit 1; }
    cat /said >>/all
done
for text in '2 launches become 1' 'z\[0..4\] = 0.0, 0.5, 2.0, 4.5, 8.0' 'times as fast, at most'; do
    grep -q "$text" /all || { echo "FAIL '$text' was not printed"; exit 1; }
done
[ "$(od -An -tx4 -N4 energy.spv)" = " 07230203" ] || { echo "FAIL energy.spv is not SPIR-V"; exit 1; }
echo all
S
export root
TIMEFORMAT="%0R s, processors %0U s" unshare -m bash -eu -c '
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    time chroot "$root" bash /run.sh'

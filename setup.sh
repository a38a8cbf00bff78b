#!/bin/sh
# setup.sh [build|use|package]: installs what spvfuse is built and tested with, from Debian's packages; with
# `build` only what `ninja` needs, with `use` also what compiles OpenCL C, with `package` what `ninja deb`
# needs.  Safe to run again: it is
# quiet when everything is there.  Runs as root or through sudo.  On a system without apt it lists what
# has to be installed by hand.
set -eu

# build: compiler, ninja, re2c, SPIR-V numbers, OpenCL's types, math functions (elsewhere: set LIBCLC to
# the path of spirv64-mesa3d-.spv)
build="gcc libc6-dev binutils ninja-build re2c spirv-headers opencl-c-headers libclc-15"
# use: OpenCL C to SPIR-V
use="clang-15 llvm-spirv-15"
# OpenCL as a consumer of what we write, and as an oracle
opencl="opencl-headers ocl-icd-opencl-dev pocl-opencl-icd"
# packages of Debian
package="debhelper fakeroot lintian"
# tests: producers of SPIR-V, its validator, unit tests, reference math, other machines, programs
# that use OpenCL
tests="spirv-tools libclang-common-15-dev llvm-15 clang-22
       libcriterion-dev libmpfr-dev libzydis-dev qemu-user gcc-aarch64-linux-gnu
       libc6-dev-arm64-cross valgrind debootstrap clang-format git ca-certificates
       g++ clinfo clpeak python3-pyopencl python3-numpy clfft-client pkg-config cmake
       libopenmpi-dev openmpi-bin libtbb-dev gdb groff-base"

case ${1-} in
"") wanted="$build $use $opencl $tests $package" ;;
build) wanted=$build ;;
use) wanted="$build $use" ;;
package) wanted="$build $package" ;;
*) echo "usage: sh setup.sh [build|use|package]" >&2; exit 2 ;;
esac

missing=
if command -v dpkg-query >/dev/null 2>&1; then
    for p in $wanted; do
        case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null || true) in
            *" installed") ;;
            *) missing="$missing $p" ;;
        esac
    done
    [ -z "$missing" ] && exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup.sh: this system has no apt-get; please install what these Debian packages hold:" >&2
    for p in $wanted; do echo "    $p" >&2; done
    exit 1
fi

as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "setup.sh: run me as root, or install sudo; missing packages:$missing" >&2
        exit 1
    }
    as_root=sudo
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "setup.sh: installing$missing"
install() {
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $missing >"$log" 2>&1
}
# The package list may be old: refresh it only when the first try fails.
install || { $as_root apt-get update >"$log" 2>&1 && install; } || {
    cat "$log" >&2
    echo "setup.sh: apt-get could not install:$missing" >&2
    exit 1
}

#!/bin/sh
# opencl.sh BUILD: our SPIR-V on the OpenCL implementations of a Debian 13 root.
#
# No OpenCL implementation of Debian 12 takes SPIR-V; PoCL 6 and Mesa's rusticl of Debian 13 do.
# The root is made once, under BUILD/debian13, with debootstrap from the mirror that this machine's
# apt uses.  The corpus, rewritten by us, then runs there on each device and is compared with
# `check`.  DEVICE_differences.txt says what each device does not have or does differently.  Random
# structs by value that we have taken apart arrive there byte by byte.  Needs root.
set -eu
build=$1
root=$build/debian13
command -v debootstrap >/dev/null || { echo "opencl.sh: debootstrap is needed" >&2; exit 1; }
[ "$(id -u)" = 0 ] || { echo "opencl.sh: must run as root" >&2; exit 1; }

# shellcheck source=tests/conformance/mirror.sh
. tests/conformance/mirror.sh

if [ ! -e "$root/complete" ]; then
    echo "making a Debian 13 root in $root (once)"
    rm -rf "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase \
        --include=pocl-opencl-icd,mesa-opencl-icd,ocl-icd-libopencl1,spirv-tools \
        trixie "$root" "$(mirror)" >"$build/debian13.log" 2>&1 ||
        { tail -n 5 "$build/debian13.log" >&2; exit 1; }
    : >"$root/complete"
fi

"$build/tests/corpus_run" tests/corpus "$build/corpus" --stage modules

# A mount name space of our own: nothing stays mounted behind us.
export root build
exec unshare -m sh -eu -c '
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount --rbind /dev "$root/dev"
    mkdir -p "$root/src"
    mount --bind . "$root/src"
    status=0
    for device in 0:pocl6 1:rusticl; do
        number=${device%:*} known=tests/conformance/${device#*:}_differences.txt
        chroot "$root" env RUSTICL_ENABLE=llvmpipe POCL_CACHE_DIR=/tmp/pocl \
            sh -c "cd src && $build/spvfuse devices | grep opencl:$number &&
                   $build/tests/corpus_run tests/corpus $build/corpus --stage oracle \
                       --oracle opencl:$number --known $known &&
                   $build/tests/runtime/queue/layouts -n 200 -d opencl:$number" || status=1
    done
    exit $status'

#!/bin/sh
# use.sh: in a new root, with the packages in this file's folder: installs and uses each, and removes all.
set -eu
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive
apt-get install -y --no-install-recommends ./libspvfuse0_*.deb ./spvfuse_*.deb ./spvfuse-doc_*.deb >log 2>&1 ||
    { cat log; exit 1; }
spvfuse info saxpy.spv
test -r /usr/share/doc/spvfuse-doc/examples/fuse.c

apt-get install -y --no-install-recommends ./libspvfuse-dev_*.deb gcc libc6-dev pkg-config >log 2>&1 ||
    { cat log; exit 1; }
cat >main.c <<'C'
#include <spvfuse_queue.h>
int main(void) {
    spvf_context *context;
    spvf_device *device;
    if (spvf_context_create(0, &context) || spvf_device_open(context, "cpu", &device)) return 1;
    spvf_device_destroy(device);
    spvf_context_destroy(context);
    return 0;
}
C
# shellcheck disable=SC2046
gcc main.c $(pkg-config --cflags --libs spvfuse) -o main
./main
# shellcheck disable=SC2046
gcc -static main.c $(pkg-config --static --cflags --libs spvfuse) -o main 2>log || cat log
./main

apt-get install -y --no-install-recommends ./python3-spvfuse_*.deb >log 2>&1 || { cat log; exit 1; }
python3 -c 'import spvfuse; print(list(spvfuse.Context().load("saxpy.spv").kernels))'

apt-get install -y --no-install-recommends ./spvfuse-opencl-icd_*.deb clinfo >log 2>&1 || { cat log; exit 1; }
clinfo -l | tee log
grep -q spvfuse log
apt-get remove -y libspvfuse0 spvfuse spvfuse-doc python3-spvfuse >log 2>&1
! find /usr /etc -name '*spvfuse*' ! -path '*/OpenCL/vendors/*' | grep .
echo "packages: installed, used and removed"

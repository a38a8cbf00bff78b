#!/bin/sh
# install.sh BUILD: the command, the library and its headers below $PREFIX (/usr/local), and what
# makes the OpenCL loader find the library; all of it below $DESTDIR, when that is set.
set -eu
prefix=${PREFIX:-/usr/local}
to=${DESTDIR:-}
install -D -m 755 "$1/spvfuse" "$to$prefix/bin/spvfuse"
install -D -m 644 "$1/libspvfuse.a" "$to$prefix/lib/libspvfuse.a"
install -D -m 755 "$1/libspvfuse.so.0.1" "$to$prefix/lib/libspvfuse.so.0.1"
ln -sf libspvfuse.so.0.1 "$to$prefix/lib/libspvfuse.so.0"
ln -sf libspvfuse.so.0 "$to$prefix/lib/libspvfuse.so"
install -D -m 755 "$1/libspvfuse_icd.so" "$to$prefix/lib/libspvfuse_icd.so"
for header in spvfuse.h spvfuse_container.h spvfuse_queue.h spvfuse_opencl.h spvfuse.hpp; do
    install -D -m 644 "runtime/$header" "$to$prefix/include/$header"
done
for text in LICENSE NOTICE docs/licenses/libclc.txt; do
    install -D -m 644 "$text" "$to$prefix/share/doc/spvfuse/$text"
done
mkdir -p "$to/etc/OpenCL/vendors"
echo "$prefix/lib/libspvfuse_icd.so" >"$to/etc/OpenCL/vendors/spvfuse.icd"

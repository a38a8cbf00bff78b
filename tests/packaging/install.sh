#!/bin/sh
# install.sh BUILD: what `ninja install` copies is found by pkg-config, CMake, gdb and the OpenCL loader,
# without root and without a file elsewhere; `ninja uninstall` leaves nothing.
set -u
build=$(cd "$1" && pwd)
# shellcheck source=tests/count.sh
. tests/count.sh
here="$work/a prefix"
export PREFIX="$here" SPVFUSE_CACHE=0
unset DESTDIR LIBDIR ICDDIR STRIP

cat >"$work/main.c" <<'C'
#include <spvfuse_queue.h>
int main(void) {
    spvf_context *context;
    if (spvf_context_create(NULL, &context) != SPVF_OK) return 1;
    spvf_context_destroy(context);
    return 0;
}
C
cat >"$work/main.cpp" <<'C'
#include <spvfuse.hpp>
int main() { spvf::context context; }
C
cat >"$work/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.13)
project(user C CXX)
find_package(spvfuse 0.1 REQUIRED)
add_executable(shared main.c)
target_link_libraries(shared spvfuse::spvfuse)
add_executable(static main.cpp)
target_link_libraries(static spvfuse::static)
C

# The vendors of the system, and what else has a name of ours.
system_files() { ls -l /etc/OpenCL/vendors /usr/local/lib /usr/local/bin 2>/dev/null; }
by_pkg_config() {
    eval "gcc '$work/main.c' $(pkg-config "$@" --cflags --libs spvfuse) -o '$work/user'" &&
        LD_LIBRARY_PATH=$here/lib "$work/user"
}
by_cmake() {
    cmake -S "$work" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$here" -DCMAKE_BUILD_TYPE=Debug &&
        cmake --build "$work/cmake" && "$work/cmake/shared" && "$work/cmake/static"
}
cmake_refuses() { # VERSION
    sed -i "s/spvfuse 0.1/spvfuse $1/" "$work/CMakeLists.txt"
    ! cmake -S "$work" -B "$work/refused" -DCMAKE_PREFIX_PATH="$here"
}
# Symbols that gdb asks for, and no others.
is_stripped() {
    ! readelf -SW "$here/bin/spvfuse" | grep -qE '\.symtab|debug_info' &&
        ! readelf -SW "$here/lib/libspvfuse.so.0" | grep -q debug_info &&
        [ "$(nm "$here/lib/libspvfuse.so.0" | grep -c ' [a-zA-Z] ')" -lt 20 ] &&
        nm "$here/lib/libspvfuse.so.0" | grep -q __jit_debug_register_code &&
        [ "$(stat -c %s "$here/lib/libspvfuse.so.0.1")" -lt 4000000 ]
}
loader_finds_it() {
    OCL_ICD_VENDORS=$here/etc/OpenCL/vendors/spvfuse.icd clinfo -l | grep -q spvfuse
}
is_empty() { [ -z "$(find "$1" ! -type d)" ]; }

before=$(system_files)
check "install" sh runtime/packaging/install.sh "$build"
check "the version" sh -c "'$here/bin/spvfuse' --version | grep -q '^spvfuse 0.1'"
check "stripped" is_stripped
check "readable by all" sh -c "! find '$here' -type f ! -perm -444 | grep ."
export PKG_CONFIG_PATH="$here/lib/pkgconfig"
if command -v pkg-config >/dev/null 2>&1; then
    check "pkg-config" by_pkg_config
    check "pkg-config's version" pkg-config --exact-version=0.1 spvfuse
else
    echo "pkg-config is missing; the file for it is not tested"
fi
if command -v cmake >/dev/null 2>&1; then
    check "CMake" by_cmake
    check "CMake, a version that there is not" cmake_refuses 0.2
else
    echo "cmake is missing; the files for it are not tested"
fi
if command -v clinfo >/dev/null 2>&1; then
    check "the OpenCL loader" loader_finds_it
fi
check "manual pages" grep -q "SH NAME" "$here/share/man/man1/spvfuse-compile.1"
check "manual pages of the library" grep -q "SH NAME" "$here/share/man/man3/spvf_fuse.3"
check "the reference of the library" grep -q 'id="spvf_fuse"' "$here/share/doc/spvfuse/reference.html"
check "completion" grep -q "complete -F" "$here/share/bash-completion/completions/spvfuse"
if /usr/bin/python3 -c '' 2>/dev/null; then
    check "Python" env -u LD_LIBRARY_PATH PYTHONPATH="$here/lib/python3/dist-packages" \
        PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c "import spvfuse; spvfuse.Context().device('cpu')"
fi
check "uninstall" sh runtime/packaging/install.sh --uninstall "$build"
check "nothing is left" is_empty "$here"
check "no folder of ours is left" sh -c "! find '$here' -name '*spvfuse*' | grep ."

# PREFIX from this folder on.
relative() {
    mkdir "$work/clone" && for entry in *; do ln -s "$PWD/$entry" "$work/clone/$entry"; done
    (cd "$work/clone" && PREFIX=there sh runtime/packaging/install.sh "$build" &&
        [ "$(cat there/etc/OpenCL/vendors/spvfuse.icd)" = "$work/clone/there/lib/libspvfuse_icd.so" ] &&
        PREFIX=there sh runtime/packaging/install.sh --uninstall "$build")
}
check "a relative PREFIX" relative

# As a package does it.
export PREFIX=/usr LIBDIR=lib/triplet ICDDIR=/etc/OpenCL/vendors DESTDIR="$work/root"
check "install, as packages" sh runtime/packaging/install.sh "$build"
check "LIBDIR" [ -e "$work/root/usr/lib/triplet/libspvfuse.so" ]
check "ICDDIR" [ "$(cat "$work/root/etc/OpenCL/vendors/spvfuse.icd")" = /usr/lib/triplet/libspvfuse_icd.so ]
check "no DESTDIR in files" sh -c "! grep -rIl '$work' '$work/root'"
check "uninstall, as packages" sh runtime/packaging/install.sh --uninstall "$build"
check "nothing is left, as packages" is_empty "$work/root"
check "the system is as it was" [ "$before" = "$(system_files)" ]
finish

#!/bin/sh
# library.sh BUILD: the library as others use it: closed while its threads are there, and what it
# exports.
set -u
build=$1
# shellcheck source=tests/count.sh
. tests/count.sh

unload=$build/tests/runtime/unload
check "opened and closed" timeout 60 "$unload" "$build/libspvfuse.so"
check "the main thread leaves" \
    env SPVF_THREADS=4 timeout -s KILL 20 "$unload" "$build/libspvfuse.so" leave
check "closed amid compiling" env SPVFUSE_THREADS=4 timeout 60 "$unload" "$build/libspvfuse.so" keep
# On a machine with other work one of three is in time.
exits_at_once() {
    for _ in 1 2 3; do
        timeout -s KILL 1.6 "$unload" "$build/libspvfuse.so" block && return
    done
    return 1
}
check "an end amid a callback that never returns" exits_at_once
if command -v valgrind >/dev/null 2>&1; then
    # The dynamic linker compares strings by whole words.
    printf '{\n  words\n  Memcheck:Addr8\n  obj:*/ld-linux-*.so*\n  ...\n}\n' >"$work/words"
    lost="timeout 300 valgrind -q --suppressions=$work/words --error-exitcode=1 --leak-check=full
          --errors-for-leak-kinds=definite,indirect,possible"
    check "nothing is lost" $lost "$unload" "$build/libspvfuse.so"
    check "nothing is lost by queues" $lost "$build/tests/runtime/queue/queue_random" -n 5 \
        "$build/tests/command_kernels.spv"
    check "nothing is lost by OpenCL" env SPVFUSE_CACHE=0 $lost \
        "$build/tests/opencl/command_random" -n 20 tests/opencl/command_kernels.cl
fi

# Names: exported ones begin with spvf_, but for the two that the OpenCL loader asks for.
foreign_names() { # NM-OPTIONS FILE
    ! nm "$@" --defined-only |
        awk 'NF > 1 && $NF !~ /^spvf_/ && $2 != "A" { print; bad = 1 } END { exit !bad }'
}
loader_names() {
    [ "$(nm -D --defined-only "$build/libspvfuse_icd.so" | awk '{ print $3 }' | sort | xargs)" = \
        "clGetExtensionFunctionAddress clIcdGetPlatformIDsKHR" ]
}
check "names of libspvfuse.so" foreign_names -D "$build/libspvfuse.so"
check "names of libspvfuse.a" foreign_names -g "$build/libspvfuse.a"
check "names of libspvfuse_icd.so" loader_names
# Each function has the version in which it came, and a program asks for it.
has_versions() {
    readelf -VW "$build/libspvfuse.so" | grep -q 'Name: SPVF_0\.1$' &&
        ! nm -D --defined-only "$build/libspvfuse.so" | grep ' T ' | grep -v '@@SPVF_0\.1$' &&
        nm -D --undefined-only "$build/libspvfuse_icd.so" | grep -q 'spvf_opencl_entry@SPVF_0\.1$'
}
check "versions of symbols" has_versions
check "soname" sh -c "readelf -d '$build/libspvfuse.so' | grep -q 'soname: \[libspvfuse.so.0\]'"

# A program with functions that are called as those inside of the library, and that uses the OpenCL
# loader too: all of them stay the program's and the loader's.
cat >"$work/both.c" <<'C'
#define _GNU_SOURCE
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include "runtime/spvfuse_queue.h"
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int called;
void event_new(void);
void __jit_debug_register_code(void);
void ir_throw(void);
void event_new(void) { called++; }
void __jit_debug_register_code(void) { called++; }
void ir_throw(void) { called++; }
int main(int argc, char **argv) {
    void *(*get)(const char *) = clGetExtensionFunctionAddress;
    spvf_context *c;
    spvf_device *d;
    spvf_queue *q;
    cl_uint n = 0;
    Dl_info where;
    void *at;
    (void)argv;
    memcpy(&at, &get, sizeof at);
    if (spvf_context_create(NULL, &c) || spvf_device_open(c, "cpu", &d)) return 1;
    if (spvf_queue_create(d, NULL, &q) || spvf_queue_finish(q)) return 2;
    spvf_queue_destroy(q);
    spvf_device_destroy(d);
    spvf_context_destroy(c);
    if (argc > 1) return called;
    if (!dladdr(at, &where) || !strstr(where.dli_fname, "libOpenCL")) return 3;
    if (clGetPlatformIDs(0, NULL, &n) || n != 1) return 4;
    return called;
}
C
cat >"$work/names.sh" <<'SH'
set -e
build=$1 work=$2
gcc -std=c17 -Wall -I. "$work/both.c" -o "$work/shared" -L"$build" -lspvfuse -lOpenCL \
    -Wl,-rpath,"$(realpath "$build")"
OCL_ICD_VENDORS=$(realpath "$build/spvfuse.icd") "$work/shared"
gcc -std=c17 -Wall -I. "$work/both.c" -o "$work/static" "$build/libspvfuse.a" -lOpenCL -lm
OCL_ICD_VENDORS=$(realpath "$build/spvfuse.icd") "$work/static"
DESTDIR=$work/root PREFIX=/usr sh runtime/packaging/install.sh "$build"
gcc -std=c17 -Wall -I. "$work/both.c" -o "$work/installed" -L"$work/root/usr/lib" -lspvfuse -lOpenCL
LD_LIBRARY_PATH=$work/root/usr/lib "$work/installed" without
cmp NOTICE "$work/root/usr/share/doc/spvfuse/NOTICE"
cmp docs/licenses/libclc.txt "$work/root/usr/share/doc/spvfuse/docs/licenses/libclc.txt"
SH
check "a program's own names" sh "$work/names.sh" "$build" "$work"

# Code of kernels for a program in C++.
cat >"$work/ahead.cpp" <<'C'
#include "runtime/spvfuse.hpp"
#include <string>
int main(int, char **argv) {
    spvf::context context;
    spvf::device device(context, "cpu");
    spvf::program program(device, spvf::module(context, argv[1]));
    program.prepare("add", spvf::range(64, 8));
    if (program.native("add").arg_count != 3) return 1;
    try {
        program.native("nothing");
    } catch (const spvf::error &e) {
        return std::string(e.what()).find("no kernel 'nothing'") == std::string::npos;
    }
    return 2;
}
C
printf 'kernel void add(global int *a, global int *b, int k) { a[get_global_id(0)] = b[0] + k; }' >"$work/ahead.cl"
ahead() {
    g++ -std=c++17 -Wall -I. "$work/ahead.cpp" -o "$work/ahead" "$build/libspvfuse.a" -lm &&
        "$build/spvfuse" opt "$work/ahead.cl" >"$work/ahead.ir" && "$work/ahead" "$work/ahead.ir"
}
case $build in build) check "code for a program in C++" ahead ;; esac

# Devices for a program in C++.
cat >"$work/sizes.cpp" <<'C'
#include "runtime/spvfuse.hpp"
#include <cstring>
int main() {
    spvf::context context;
    bool check = false;
    for (const spvf::device_info &d : spvf::devices(context)) {
        check |= d.name == "check" && d.usable && d.parallel == 1 && d.memory > 1 << 20;
        if (!d.usable && d.why_not.empty()) return 1;
        if (d.missing && (d.usable || !d.target.empty())) return 2;
    }
    if (!check) return 3;
    const spvf::device_info cpu = spvf::device(context, "cpu:v2,simd=4").info();
    if (cpu.name != "cpu:v2,simd=4" || cpu.target != "x86_64:v2,simd=4" || !cpu.can.host_memory) return 4;
    if (cpu.subgroup_sizes.size() != 7 || cpu.subgroup_sizes[6] != 64) return 5;
    return cpu.version == spvf_version_text() && cpu.group_size[2] == cpu.group_items ? 0 : 6;
}
C
sizes() {
    g++ -std=c++17 -Wall -Wextra -I. "$work/sizes.cpp" -o "$work/sizes" "$build/libspvfuse.a" -lm && "$work/sizes"
}
case $build in build) check "devices for a program in C++" sizes ;; esac

# What a context remembers, for a program in C++.
cat >"$work/recall.cpp" <<'C'
#include "runtime/spvfuse.hpp"
#include <string>
int main(int, char **argv) {
    spvf::recall what;
    what.contents = 1 << 20;
    spvf::context context(what), other;
    spvf::device device(context, "cpu");
    spvf::program program(device, spvf::module(context, argv[1]));
    std::vector<int> a(64), b(64, 3);
    spvf::buffer to(device, a), from(device, b);
    spvf::queue queue(device);
    queue.launch(program, "add", spvf::range(64, 8), to, from, 4);
    queue.finish();
    if (context.reproducer(argv[2]) != 1) return 1;
    try {
        other.reproducer(argv[2]);
    } catch (const spvf::error &e) {
        return std::string(e.what()).find("remembers nothing") == std::string::npos;
    }
    return 2;
}
C
recall() {
    g++ -std=c++17 -Wall -Wextra -I. "$work/recall.cpp" -o "$work/recall" "$build/libspvfuse.a" -lm &&
        "$work/recall" "$work/ahead.ir" "$work/recalled" && echo 'expect b0[0..63] = 7' >>"$work/recalled/000001-launch-add.plan" &&
        "$build/spvfuse" run -O0 "$work/recalled/000001-launch-add.plan"
}
case $build in build) check "what a context remembers, in C++" recall ;; esac

# What the loader and the compiler were asked for, and that nothing says where it was built.
is_hardened() {
    for file in "$build/libspvfuse.so" "$build/libspvfuse_icd.so" "$build/spvfuse"; do
        readelf -lW "$file" | grep -q GNU_RELRO && readelf -dW "$file" | grep -q BIND_NOW &&
            readelf -lW "$file" | grep 'GNU_STACK' | grep -qv 'RWE' &&
            ! readelf -dW "$file" | grep -q TEXTREL || return 1
    done
    nm -D "$build/libspvfuse.so" | grep -q __stack_chk_fail &&
        nm -D "$build/libspvfuse.so" | grep -q '_chk@' &&
        { [ "$(uname -m)" != x86_64 ] ||
            readelf -nW "$build/runtime.o" | grep -q 'IBT, SHSTK'; } # the system's crti.o may not
}
has_no_place() {
    ! grep -qaF "$PWD" "$build/libspvfuse.so" "$build/libspvfuse_icd.so" "$build/libspvfuse.a" \
        "$build/spvfuse"
}
is_declared() { ninja -t deps build/gen/codegen/math/library.inc | grep -q spirv64-mesa3d; }
case $build in build) # of the release
    check "hardened" is_hardened
    check "no folder of the build in it" has_no_place
    check "libclc is an input" is_declared ;;
esac

finish

#!/bin/sh
# source.sh BUILD: OpenCL C where a module is taken, by the command and by plans, and files of other
# kinds, which are named for what they are.
set -u
build=$(cd "$1" && pwd)
# shellcheck source=tests/count.sh
. tests/count.sh
spvfuse=$build/spvfuse
export SPVFUSE_CACHE_DIR="$work/cache" SPVFUSE_CACHE=1
mkdir "$work/kernels"

# says TEXT COMMAND…: fails, and says so on standard error.
says() {
    wanted=$1
    shift
    "$@" 2>"$work/errors" >"$work/output" && return 1
    grep -qF "$wanted" "$work/errors" || { cat "$work/errors"; return 1; }
}
# prints TEXT COMMAND…: succeeds, and prints it.
prints() {
    wanted=$1
    shift
    "$@" >"$work/output" 2>&1 && grep -qF "$wanted" "$work/output" || { cat "$work/output"; return 1; }
}

# ---- files of other kinds, by a name that says nothing
kind() { # NAME ADVICE PRINTF-TEXT
    # shellcheck disable=SC2059
    printf "$3" >"$work/it"
    for command in info opt "compile -t ir"; do
        # shellcheck disable=SC2086
        check "$command: $1" says "$work/it: error: this is $1, not SPIR-V$2" "$spvfuse" $command "$work/it"
    done
}
kind "an ELF object file" ": give" '\177ELF\2\1\1\0'
kind "LLVM bitcode" ": run llvm-spirv" 'BC\300\336\0\0'
kind "LLVM bitcode" ": run llvm-spirv" '\336\300\27\13\0'
kind "an archive of object files" "" '!<arch>\nx'
kind "a program or library of Windows" "" 'MZ\220'
kind "compressed by gzip" ": run gunzip" '\37\213\10'
kind "a zip archive" "" 'PK\3\4'
kind "text in UTF-16" "" '\377\376k\0'
kind "text of SPIR-V assembly" ": run spirv-as" '; SPIR-V\n; Version: 1.0\n'
kind "text of SPIR-V assembly" ": run spirv-as" '\n   OpCapability Kernel\n'
kind "text of LLVM IR" ": run llvm-as" "; ModuleID = 'x'\n"
kind "text of LLVM IR" ": run llvm-as" 'target triple = "spir64"\n'
kind "text of PTX" "" '//\n.version 7.0\n'
kind "OpenCL C" ": name it .cl" '/* a */\nkernel void k(void) {}\n'
kind "OpenCL C" ": name it .cl" '__kernel void k(void) {}\n'
kind "a plan" ": run, explain" '# a plan\nbuffer x f32[4]\n'
kind "CUDA C or HIP" "" '__global__ void k() {}\n'
kind "binary data" ": SPIR-V begins with the number 0x07230203" 'ab\0cd'
kind "binary data" ": SPIR-V begins" 'ab\1cd'
kind "a picture (PNG)" "" '\211PNG\r\n\32\n'
kind "a PDF document" "" '%%PDF-1.4\n'
kind "compressed by zstd" ": run unzstd" '\50\265\57\375'
kind "JSON" "" '{"a": 1}'
kind "C or a language like it" ": OpenCL C is" '/* a */\nint main(void) { return 0; }\n'
kind "a script" "" '#!/bin/sh\n'
tar -cf "$work/it" -C docs/examples kernels.cl
check "tar" says "this is a tar archive, not SPIR-V: run tar -x" "$spvfuse" info "$work/it"
kind "HTML" "" '<!DOCTYPE html>'
for file in "$build/bench/saxpy.spv:SPIR-V" tests/corpus/saxpy.cl:"OpenCL C" /bin/sh:"an ELF object file"; do
    check "run ${file%%:*}" says "this is ${file#*:}, not a plan" "$spvfuse" run "${file%%:*}"
done
check "text of the IR" "$spvfuse" info tests/ir/roundtrip.ir

check "no file" says "absent.cl: error: cannot be read: No such file" "$spvfuse" info "$work/absent.cl"
printf 'buffer x i32[4]\nlaunch "absent.cl":k global 4 args x\n' >"$work/absent.plan"
check "no file of a plan" says "absent.cl: cannot be opened: No such file" "$spvfuse" run "$work/absent.plan"

# ---- OpenCL C
printf '\357\273\277kernel void marked(global int *x) { x[0] = 1; }\n' >"$work/mark.cl"
check "a mark of UTF-8" prints "kernel marked" "$spvfuse" info "$work/mark.cl"
printf '\357\273\277# marked, with lines of Windows\r\nbuffer x i32[2]\r\nlaunch "mark.cl":marked global 1 args x\r\n' \
    >"$work/mark.plan"
check "a mark of UTF-8 in a plan" "$spvfuse" run "$work/mark.plan"
cp docs/examples/kernels.cl "$work/kernels/k.cl"
sed 's/kernels.spv/kernels\/k.cl/' docs/examples/kernels.plan >"$work/k.plan"
check "info" prints "buffer x (float*)" "$spvfuse" info "$work/kernels/k.cl"
check "opt" prints "@slope" "$spvfuse" opt "$work/kernels/k.cl"
check "compile" "$spvfuse" compile "$work/kernels/k.cl" -t x86_64:v2 -o "$work/k.o"
check "pack" "$spvfuse" pack "$work/kernels/k.cl" -o "$work/k.spvc"
check "inspect" prints slope "$spvfuse" inspect "$work/k.spvc"
check "run" "$spvfuse" run -d check "$work/k.plan"
check "fuse" "$spvfuse" fuse "$work/k.plan" -o "$work/fused.spv"
check "lines of the source" prints "k.cl:" "$spvfuse" explain -v "$work/k.plan"

# ---- build options of plans
cat >"$work/kernels/options.c" <<'C'
kernel void put(global int *x) { x[get_global_id(0)] = N; }
C
cp "$work/kernels/options.c" "$work/kernels/options.cl"
cat >"$work/options.plan" <<'P'
buffer a i32[4]
buffer b i32[4]
buffer c i32[4]
build "-DN=5"
launch "kernels/options.cl":put global 4 args a
launch "kernels/options.cl":put global 4 build "-DN=6" args b
launch "kernels/options.c":put global 4 build "-DN=7 -cl-std=CL3.0" args c
expect a = 5
expect b = 6
expect c = 7
P
check "build options of a plan" "$spvfuse" run -d check "$work/options.plan"
grep -v ^build "$work/options.plan" >"$work/none.plan"
check "pack --build" "$spvfuse" pack --build -DN=8 "$work/kernels/options.cl" -o "$work/options.spvc"
check "no build options" says "undeclared identifier 'N'" "$spvfuse" run -d check "$work/none.plan"
sed 's/-DN=7/-Dx/; s/-DN=6/-nonsense/' "$work/options.plan" >"$work/wrong.plan"
check "wrong build options" says "-nonsense" "$spvfuse" run -d check "$work/wrong.plan"

# Once compiled it is found, also without the compiler's time; another source is not.
printf '#!/bin/sh\necho x >>%s/calls\nexec clang-15 "$@"\n' "$work" >"$work/clang"
chmod +x "$work/clang"
export SPVFUSE_CLANG="$work/clang"
sleep 0.1
"$spvfuse" info "$work/kernels/k.cl" >/dev/null
calls=$(grep -c . "$work/calls")
check "the cache" [ "$("$spvfuse" info "$work/kernels/k.cl" | wc -l)" -gt 4 ]
check "the cache: no call of clang" [ "$(grep -c . "$work/calls")" = "$calls" ]
unset SPVFUSE_CLANG

# What is included lies beside the source, wherever the command is called.
echo '#define N 7' >"$work/kernels/n.h"
printf '#include "n.h"\n#if N != 7 || M != 3\n#error no\n#endif\nkernel void k(global int *x) { *x = N; }\n' \
    >"$work/kernels/i.cl"
check "include and --build" prints "kernel k" "$spvfuse" info --build "-DM=3 -cl-std=CL3.0" "$work/kernels/i.cl"
check "the place of an error" says "$work/kernels/i.cl:3:2: error: no" "$spvfuse" info "$work/kernels/i.cl"
check "what --build does not know" says "option '-nonsense' is not known" \
    "$spvfuse" info --build -nonsense "$work/kernels/i.cl"
cp "$work/kernels/k.cl" "$work/kernels/source"
check "an option of OpenCL programs" says "option '-cl-spvfuse-layout' is for OpenCL programs" \
    "$spvfuse" info --build -cl-spvfuse-layout=x "$work/kernels/i.cl"
check "--build, of any name" prints "kernel add" "$spvfuse" info --build "" "$work/kernels/source"
printf 'kernel void k(global int *x) { int y; *x = 1; return 1; }\n' >"$work/kernels/e.cl"
check "an error in a plan" says "e.cl:1:" "$spvfuse" run /dev/stdin <<P
buffer x i32[1]
launch "$work/kernels/e.cl":k global 1 local 1 args x
P
printf 'kernel void k() {}\0' >"$work/kernels/z.cl"
check "a source with a 0 in it" says "z.cl is not text" "$spvfuse" info "$work/kernels/z.cl"
: >"$work/kernels/empty.cl"
check "an empty source" says "the module is empty" "$spvfuse" info "$work/kernels/empty.cl"
printf 'kernel void k(global int *x) { int unused; *x = 1; }\n' >"$work/kernels/w.cl"
check "warnings" prints "w.cl:1:36: warning: unused variable" "$spvfuse" info --build -Wall "$work/kernels/w.cl"
check "no compiler" env SPVFUSE_CLANG=/bin/false SPVFUSE_CACHE=0 sh -c "
    '$spvfuse' info '$work/kernels/k.cl' 2>&1 | grep -q '^error: no clang was found'"
check "no compiler: the exit status" env SPVFUSE_CLANG=/bin/false SPVFUSE_CACHE=0 sh -c "
    ! '$spvfuse' info '$work/kernels/k.cl'"
finish

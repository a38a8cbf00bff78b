#!/bin/sh
# save.sh BUILD: with SPVFUSE_SAVE, what programs fuse and launch becomes plans, which the command runs
# with the same results; what cannot be written is a warning.
set -u
build=$(cd "$1" && pwd)
# shellcheck source=tests/count.sh
. tests/count.sh
here=$PWD
spvfuse=$build/spvfuse
save=$work/save
export SPVFUSE_CACHE=0
check "a folder" mkdir "$save"

# What a program saves, by the pattern of its name.
saved() { find "$save" -name "$1" | sort; }
count() { saved "$1" | wc -l; }
# runs OPTION… PLAN: without an error or a warning.
runs() { "$spvfuse" run "$@" >"$work/out" 2>&1 && ! grep -E 'error|warning' "$work/out"; }
all_run() { # PATTERN OPTION…
    pattern=$1
    shift
    [ "$(count "$pattern")" != 0 ] || return 1
    for plan in $(saved "$pattern"); do runs "$@" "$plan" || { cat "$plan"; return 1; }; done
}
is_logged() {
    for plan in $(saved '*.plan'); do
        grep -q "^[0-9]* $(basename "$plan")\$" "$save/saved.log" || return 1
    done
}
# A buffer of the plan of a launch has these values when it has run.
gives() { # PATTERN BUFFER VALUES
    { cat "$(saved "$1")" && echo "expect $2[0..3] = $3"; } >"$save/expects"
    runs -O0 -d cpu "$save/expects" && runs -O0 "$save/expects" && rm "$save/expects"
}
explains() { # PATTERN TEXT: `explain` says so of the plan, or the plan itself
    { "$spvfuse" explain "$(saved "$1")" && cat "$(saved "$1")"; } | grep -q "$2"
}
again() { # COMMAND…: nothing more is saved
    before=$(ls "$save")
    "$@" >/dev/null 2>&1
    [ "$before" = "$(ls "$save")" ]
}

cat >"$work/k.cl" <<'C'
typedef struct { int first; float by; } how;
kernel void fill(global float *x) { x[get_global_id(0)] = get_global_id(0); }
kernel void scale(global const float *x, float by, global float *y) {
    y[get_global_id(0)] = x[get_global_id(0)] * by;
}
kernel void turn(global const float *x, how h, local float *t, global float *y) {
    size_t l = get_local_id(0), n = get_local_size(0), i = get_global_id(0);
    t[l] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] = t[n - 1 - l] * h.by + h.first;
}
C
cat >"$work/k.plan" <<'PLAN'
buffer x f32[256]
buffer y f32[256]
buffer z f32[256] = 0
scalar h bytes[8] = 1, 0, 0, 0, 0, 0, 0, 63
fuse "pair" { launch "k.cl":fill global 256 args x
  launch "k.cl":scale global 256 args x, 3.0f, y }
launch "k.cl":turn global 256 local 4 args y, h, local 16, z
expect z[0..3] = 5.5, 4.0, 2.5, 1.0
PLAN
sed -i 's/fuse "pair"/fuse pair/' "$work/k.plan"
plan() { SPVFUSE_SAVE=$save "$spvfuse" run "$@" "$work/k.plan"; }
check "a plan" plan -d cpu
check "its fusion" [ "$(count 'fuse-pair-*.plan')" = 1 ]
check "its launches" [ "$(count 'launch-*.plan')" = 2 ]
check "in the log" is_logged
check "fusions run" all_run 'fuse-*.plan' --validate -d cpu
check "fusions are checked" all_run 'fuse-*.plan' --validate
check "launches run" all_run 'launch-*.plan' -O0 -d cpu
check "a launch gives the same" gives 'launch-turn-*.plan' b3 '5.5, 4.0, 2.5, 1.0'
is_saved_source() { # KIND FILE OPTIONS: what was read, byte by byte, and how it was called
    for found in $(saved "*.$1"); do
        cmp -s "$found" "$2" && grep -q "^[0-9]* $(basename "$found") is .*$(basename "$2")$3\$" "$save/saved.log" &&
            return
    done
    return 1
}
check "the source" is_saved_source cl "$work/k.cl" ''
check "nothing is saved twice" again plan -d cpu
check "for its user only" sh -c "! find '$save' -type f -perm /077 | grep ."
check "nothing is left over" sh -c "! find '$save' -name '.*' -type f | grep ."

# Modules, before they are read: also those that cannot be.
cp "$build/tests/shapes.spv" "$work/whole.spv"
{ head -c 60 "$work/whole.spv" && printf 'garbage!'; } >"$work/damaged.spv"
echo 'target 64' >"$work/text.ir"
info() { SPVFUSE_SAVE=$save "$spvfuse" info "$@"; }
damaged() { ! info "$work/damaged.spv" && is_saved_source spv "$work/damaged.spv" ''; }
check "SPIR-V" info "$work/whole.spv"
check "SPIR-V is saved" is_saved_source spv "$work/whole.spv" ''
check "SPIR-V that is damaged" damaged
check "text" info "$work/text.ir"
check "text is saved" is_saved_source ir "$work/text.ir" ''
check "OpenCL C with options" info --build '-DN=4 -cl-std=CL3.0' "$work/k.cl"
check "options" sh -c "grep -q '^[0-9]* [0-9a-f]*\.cl is .*k.cl, built with .*-DN=4 -cl-std=CL3.0' '$save/saved.log'"

# On the interpreter, memory without contents stays so.
rm -r "$save" && mkdir "$save"
check "on device check" plan -d check
check "they run there" all_run 'launch-*.plan' -O0
check "what has no contents" sh -c "grep -q '^buffer b[0-9]* f32\[256\]\$' '$save'/launch-*.plan"

# Devices with memory of their own: what is read from it.
rm -r "$save" && mkdir "$save"
if "$spvfuse" devices 2>/dev/null | grep -q '^opencl:'; then
    check "on device opencl" plan -d opencl
    check "launches of opencl" [ "$(count 'launch-*.plan')" = 2 ]
    check "they run on cpu" all_run 'launch-*.plan' -O0 -d cpu
    check "they run on opencl" all_run 'launch-*.plan' -O0 -d opencl
    check "a launch of opencl gives the same" gives 'launch-turn-*.plan' b3 '5.5, 4.0, 2.5, 1.0'
fi
rm -r "$save" && mkdir "$save"
gpu() { env LD_LIBRARY_PATH="$build/tests/runtime/devices/cuda" "$@"; }
plan_on_cuda() { sed '/^expect/d' "$work/k.plan" >"$work/g.plan" && gpu env SPVFUSE_SAVE="$save" "$spvfuse" run -d cuda "$work/g.plan"; }
if [ -e "$build/tests/runtime/devices/cuda/libcuda.so.1" ]; then
    check "on device cuda" plan_on_cuda
    check "launches of cuda" [ "$(count 'launch-*.plan')" = 2 ]
    check "they run on cpu" all_run 'launch-*.plan' -O0 -d cpu
    check "their contents" gives 'launch-turn-*.plan' b3 '1.0, 1.0, 1.0, 1.0' # the driver computes nothing
fi

# Contents: how many bytes of a buffer, and of all.
limited() { # VARIABLE=VALUE PATTERN COUNT
    rm -r "$save" && mkdir "$save"
    env "$1" SPVFUSE_SAVE="$save" "$spvfuse" run -d cpu "$work/k.plan" >/dev/null 2>&1
    [ "$(count '*.bin')" = "$3" ] && [ "$(cat "$save"/launch-*.plan | grep -c "^# b[0-9]* has made up contents: .*$2")" -ge "$((2 - $3))" ] &&
        all_run 'launch-*.plan' -O0 -d cpu
}
check "no contents" limited SPVFUSE_SAVE_BUFFER=0 SPVFUSE_SAVE_BUFFER 0
check "small buffers only" limited SPVFUSE_SAVE_BUFFER=1023 SPVFUSE_SAVE_BUFFER 0
sources=$(cat "$save"/*.cl "$save"/*.spv | wc -c)
check "few bytes" limited "SPVFUSE_SAVE_SIZE=$((sources + 1500))" SPVFUSE_SAVE_SIZE 1
check "enough" limited SPVFUSE_SAVE_BUFFER=1K '' 2

# A program with queues and a graph, which fuses.
rm -r "$save" && mkdir "$save"
graph() {
    gcc -std=c17 -I"$here" "$here/docs/examples/graph.c" "$build/libspvfuse.a" -lm -o "$work/graph" &&
        "$spvfuse" opt "$here/docs/examples/kernels.cl" >"$work/kernels.ir" &&
        SPVFUSE_SAVE=$save "$work/graph" "$work/kernels.ir"
}
if [ "$(basename "$build")" = build ]; then
    check "a graph" graph
    check "a graph is saved" all_run 'fuse-*.plan' --validate -d cpu
    check "and its explanation" explains 'fuse-scale_add-*.plan' '^scale_add: @scale, @add become one kernel'
    check "values that change are no constants" explains 'fuse-scale_add-*.plan' '^launch .* args variable v0, b1, b2'
    check "and its launches" all_run 'launch-*.plan' -O0 -d cpu
fi

# An OpenCL program, which knows nothing of it.
opencl() {
    gcc -std=c17 "$here/docs/examples/command_buffer.c" -lOpenCL -o "$work/opencl" &&
        OCL_ICD_VENDORS=$build/spvfuse.icd SPVFUSE_SAVE=$save "$work/opencl" "$here/docs/examples/kernels.cl"
}
if [ "$(basename "$build")" = build ] && [ -e /usr/include/CL/cl.h ]; then
    rm -r "$save" && mkdir "$save"
    check "OpenCL" opencl
    check "its fusion is saved" all_run 'fuse-*.plan' --validate -d cpu
    check "its explanation" explains 'fuse-scale_add-*.plan' '^scale_add: @scale, @add become one kernel'
    check "its launch is saved" all_run 'launch-*.plan' -O0 -d cpu
    check "and gives the same" gives 'launch-*.plan' b2 '1, 3, 5, 7'
    check "OpenCL, again" again opencl
fi

# Arguments that reach the same memory, memory that was written in other ways, smaller work-groups.
memory() {
    gcc -std=c17 "$here/tests/runtime/cli/save_memory.c" -lOpenCL -o "$work/memory" &&
        OCL_ICD_VENDORS=$build/spvfuse.icd SPVFUSE_SAVE=$save "$work/memory" "$here/docs/examples/kernels.cl"
}
only() { # TEXT: the plans with it are alone in the folder
    for plan in $(saved '*.plan'); do grep -q "$1" "$plan" || mv "$plan" "$plan.other"; done
    [ "$(count '*.plan')" = 1 ]
}
others() { for plan in $(saved '*.other'); do mv "$plan" "${plan%.other}"; done; }
if [ "$(basename "$build")" = build ] && [ -e /usr/include/CL/cl.h ]; then
    rm -r "$save" && mkdir "$save"
    check "memory" memory
    check "its launches" [ "$(count 'launch-*.plan')" = 2 ]
    check "run" all_run 'launch-*.plan' -O0 -d cpu
    check "smaller groups" only 'local 64 uneven args b0, b0 at 4096, b0 at 8192$'
    { cat "$save"/*.plan && echo "expect b0[2049..2050] = 1026, 1028" && echo "expect b0[3047..3048] = 3022, 3048"; } >"$save/expects"
    check "and one SVM allocation" runs -O0 -d cpu "$save/expects"
    others
    check "a part of a buffer" only 'args b0, b0 at 4096, b0$'
    check "gives the same" gives '*.plan' b0 '1, 2, 3, 4'
fi

# Launches that a device is given together: the later ones find what the earlier ones write.
together() { # DEVICE
    rm -r "$save" && mkdir "$save"
    SPVFUSE_SAVE=$save "$work/together" "$1" "$work/kernels.ir" && [ "$(count 'launches-scale-*.plan')" = 1 ]
}
if [ "$(basename "$build")" = build ]; then
    check "launches of a graph" gcc -std=c17 -I"$here" "$here/tests/runtime/cli/save_graph.c" "$build/libspvfuse.a" -lm -o "$work/together"
    if "$spvfuse" devices 2>/dev/null | grep -q '^opencl:'; then
        check "together" together opencl
        check "give the same" gives '*.plan' b4 '2, 6, 10, 14'
    fi
fi

# The plan is there before what fails.
broken=$build/tests/runtime/cli/broken
fails() {
    rm -r "$save" && mkdir "$save"
    unset SPVF_ABORT SPVFUSE_ABORT
    ! BREAK=$1 SPVFUSE_SAVE=$save "$broken" run -d cpu "$work/k.plan" 2>"$work/err" &&
        grep -q "internal error in $1" "$work/err" && all_run '*.plan' -d cpu
}
if [ -x "$broken" ]; then check "a bug" fails select; fi
# All launches, numbered.
{
    echo 'buffer x f32[4] = 0'
    for n in 1 2 3 4 5; do echo "launch \"k.cl\":scale global 4 args x, $n.0f, x"; done
} >"$work/all.plan"
all() {
    rm -r "$save" && mkdir "$save"
    SPVFUSE_SAVE_ALL=1 SPVFUSE_SAVE=$save "$spvfuse" run -d cpu "$work/all.plan" && [ "$(count 'launch-scale-*.plan')" = 5 ]
}
check "all launches" all
check "they run" all_run 'launch-*.plan' -O0 -d cpu

# Names of kernels and folders that files could not have.
odd() { # KERNEL
    rm -r "$save" && mkdir "$save"
    printf 'target 64\nkernel @"%s"(%%p: ptr.global of i32) {\nentry:\n  store i32 7, %%p align 4\n  ret\n}\n' "$1" >"$work/odd name.ir"
    printf 'buffer x i32[4] = 0\nlaunch "odd name.ir":"%s" global 1 args x\n' "$1" >"$work/odd.plan"
    SPVFUSE_SAVE=$save "$spvfuse" run -d cpu "$work/odd.plan" && all_run '*.plan' -O0
}
check "a name with spaces" odd 'a b/c'
spaces() {
    mkdir "$work/a \"folder\" with spaces"
    SPVFUSE_SAVE="$work/a \"folder\" with spaces" "$spvfuse" run -d cpu "$work/k.plan" || return 1
    for plan in "$work/a \"folder\" with spaces"/launch-*.plan; do runs -O0 -d cpu "$plan" || return 1; done
}
check "a folder with spaces" spaces

# The folder is made, but not those above it.
made() {
    rm -rf "$work/made"
    SPVFUSE_SAVE="$work/made" "$spvfuse" run -d cpu "$work/k.plan" && ls "$work"/made/launch-*.plan
}
check "a folder that is not there" made

# A process that is killed leaves plans that run.
killed() {
    for ms in 002 005 010 020 040; do
        rm -r "$save" && mkdir "$save"
        SPVFUSE_SAVE_ALL=1 SPVFUSE_SAVE=$save timeout -s KILL 0.$ms "$spvfuse" run -d cpu "$work/many.plan" 2>/dev/null
        for plan in "$save"/launch-*.plan; do [ ! -e "$plan" ] || runs -O0 -d cpu "$plan" || return 1; done
    done
}
{
    echo 'buffer x i32[4] = 0'
    printf 'target 64\nkernel @put(%%p: ptr.global of i32, %%v: i32) {\nentry:\n  store %%v, %%p align 4\n  ret\n}\n' >"$work/put.ir"
    for n in 0 1 2 3 4 5 6 7 8 9; do for m in 0 1 2; do echo "launch \"put.ir\":put global 4 args x, $n$m"; done; done
} >"$work/many.plan"
check "a process that is killed" killed

# A full disk, if one can be made.
full() { # KIB: a warning, and what is there runs
    mount -t tmpfs -o "size=$1k" spvfuse "$work/full" || return 1
    SPVFUSE_SAVE=$work/full "$spvfuse" run -d cpu "$work/k.plan" >/dev/null 2>"$work/err"
    status=$?
    for plan in "$work/full"/*.plan; do [ ! -e "$plan" ] || runs -O0 -d cpu "$plan" || status=1; done
    umount "$work/full"
    [ "$status" = 0 ] && grep -q 'warning: SPVFUSE_SAVE: .*: No space left on device' "$work/err" && [ "$(wc -l <"$work/err")" -le 2 ]
}
mkdir "$work/full"
if mount -t tmpfs -o size=4k spvfuse "$work/full" 2>/dev/null; then
    umount "$work/full"
    for kib in 4 12 20 28 36; do check "a full disk of $kib KiB" full "$kib"; done
fi

# A folder that is none is a warning.
no_folder() {
    SPVFUSE_SAVE=$work/no/where "$spvfuse" run -d cpu "$work/k.plan" 2>"$work/err" &&
        grep -q "warning: SPVFUSE_SAVE: $work/no/where/.*: No such file or directory" "$work/err" &&
        [ "$(wc -l <"$work/err")" -le 2 ]
}
check "no folder" no_folder
finish

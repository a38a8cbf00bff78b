#!/bin/sh
# debug.sh BUILD: SPVFUSE_JIT=step, with and without gdb: results are those of optimized code, kernels stop
# by name and line, and parameters, variables, ids and local memory can be read.
set -u
build=$1
. tests/count.sh
export SPVFUSE_THREADS=1 TMPDIR="$work"
program=$build/tests/opencl/debugged
kernels=tests/opencl/debug_kernels.cl

for kernel in heat neighbours; do
    timeout 60 "$program" $kernels $kernel >"$work/native"
    SPVFUSE_JIT=step timeout 60 "$program" $kernels $kernel >"$work/steps"
    check "$kernel: $(cat "$work/steps"), not $(cat "$work/native")" cmp -s "$work/native" "$work/steps"
done
check "a source stays: $(ls "$work")" [ -z "$(find "$work" -name program.cl)" ]

# Profiles are looked at later.
SPVFUSE_JIT=perf JITDUMPDIR="$work" timeout 60 "$program" $kernels heat >"$work/profiled"
check "no source stays for profiles: $(ls "$work")" [ -n "$(find "$work" -name program.cl)" ]

# A library in the place of VTune's: it says what it is told.
cat >"$work/vtune.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
typedef struct {
    unsigned number;
    char *name;
    unsigned char *address;
    unsigned size, line_bytes;
    struct { unsigned end, line; } *lines;
    unsigned class_number;
    char *class_file, *source_file;
} method;
unsigned Initialize(void) { return getenv("SAMPLES") != NULL; }
int NotifyEvent(int event, method *m) {
    unsigned sum = 0, n = m->line_bytes / sizeof *m->lines;
    for (unsigned k = 0; k < m->size; k++) sum += m->address[k];
    printf("event %d: %s in %s, %s\n", event, m->name, m->source_file, sum && m->number >= 1000 ? "code" : "no code");
    for (unsigned k = 0, before = 0; k < n; before = m->lines[k++].end)
        if (m->lines[k].end < before || m->lines[k].end > m->size) printf("bad end\n");
        else if (m->lines[k].end > before) printf("line %u\n", m->lines[k].line);
    if (!n || m->lines[n - 1].end != m->size) printf("code without a line\n");
    return 1;
}
C
gcc -shared -fPIC "$work/vtune.c" -o "$work/libvtune.so" || failed "the stand-in for VTune's library"
# profile VARIABLE…: what is printed by the program and the library.
profile() {
    env SPVFUSE_JIT=vtune "$@" timeout 60 "$program" $kernels heat >"$work/profile" 2>&1
}
profile SAMPLES=1 INTEL_JIT_PROFILER64="$work/libvtune.so"
check "what VTune is told: $(cat "$work/profile")" grep -q '^event 13: heat in .*program.cl, code$' "$work/profile"
check "its lines: $(cat "$work/profile")" grep -qx 'line 10' "$work/profile"
check "its table: $(cat "$work/profile")" sh -c "! grep -E 'bad|without' '$work/profile'"
check "the result: $(cat "$work/profile")" [ "$(grep -vE '^(event|line) ' "$work/profile")" = "$(timeout 60 "$program" $kernels heat)" ]
for library in "$work/libvtune.so" /nowhere/lib.so ''; do
    profile INTEL_JIT_PROFILER64="$library"
    check "nothing listens: $(cat "$work/profile")" sh -c "! grep -E 'event|line' '$work/profile'"
done

# perf, where it may measure: names in the report, lines in what is annotated.
measure() {
    (cd "$work" && SPVFUSE_JIT=perf timeout 60 perf record -q -F 3000 -k mono -o perf.data "$spvfuse" bench "$plan" &&
        perf inject --jit -i perf.data -o perf.jit.data)
}
spvfuse=$(realpath "$build/spvfuse") plan=$(realpath "$build/demo/heat.plan")
if command -v perf >/dev/null && measure >"$work/perf" 2>&1; then
    perf report -i "$work/perf.jit.data" --stdio >"$work/report" 2>/dev/null
    check "perf report: $(cat "$work/report")" grep -q 'jitted.* steps*$' "$work/report"
    perf annotate --stdio -i "$work/perf.jit.data" steps >"$work/annotated" 2>/dev/null
    check "perf annotate" grep -q 'heat.cl:[0-9]' "$work/annotated"
else
    echo "there is no perf that may measure: profiles are not tested"
fi

# ask KERNEL OPTION…: keeps what gdb says.
ask() {
    kernel=$1
    shift
    SPVFUSE_JIT=step timeout 120 gdb -nx -batch -ex 'set breakpoint pending on' "$@" --args "$program" $kernels "$kernel" \
        >"$work/gdb" 2>&1
}
says() {
    check "gdb does not say '$1': $(cat "$work/gdb")" grep -qF -- "$1" "$work/gdb"
}
if ! command -v gdb >/dev/null; then
    echo "there is no gdb: stops in kernels are not tested"
    finish
    exit
fi
ask heat -ex 'break heat' -ex run -ex 'info args' -ex 'delete' -ex 'break program.cl:10' -ex c -ex 'ignore 2 9' -ex c \
    -ex 'info locals' -ex 'p x[3]' -ex 'p *x@4' -ex s -ex 'bt 2' -ex finish -ex n -ex n -ex 'p sum'
says 'Breakpoint 1, heat (x='
says 'int i = get_global_id(0);'
says 'n = 8'
says 'i = 1'
says 'k = 2'
says 'global_id = {1, 0, 0}'
says '= 3'
says '= {0, 1, 2, 3}'
says '#0  square (v=3)'
says '#1  0x'
says 'in heat (x='
says '= 14'
# A program that is made from a binary has its source, too.
FROM_BINARY=1 ask heat -ex 'break heat' -ex run -ex 'info args'
says 'int i = get_global_id(0);'
says 'n = 8'
# All of a kernel in one line: it stops where parameters and ids are known, once for each work-item.
ask line -ex 'break line' -ex run -ex 'info args' -ex c -ex 'p x[3]' -ex 'p global_id'
says 'n = 8'
says '$1 = 3'
says '$2 = {1, 0, 0}'
ask neighbours -ex 'break program.cl:20' -ex run -ex c -ex 'p i' -ex 'p local_id' -ex 'p tile' -ex 'bt 1'
says '$1 = 1'
says '$2 = {1, 0, 0}'
says '$3 = {0, 1, 2, 3, 4, 5, 6, 7}'
says '#0  neighbours (x='
# Optimized code has names and lines.
SPVFUSE_JIT=gdb timeout 120 gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break program.cl:10' -ex run -ex 'bt 1' \
    --args "$program" $kernels heat >"$work/gdb" 2>&1
says '#0  heat '
says 'program.cl:'
# A program that asks for no optimization has none.
for binary in '' 1; do
    env ${binary:+FROM_BINARY=1} OPTIONS=-cl-opt-disable SPVFUSE_JIT=gdb timeout 120 gdb -nx -batch -ex 'set breakpoint pending on' \
        -ex 'break heat' -ex run -ex 'info args' -ex n -ex 'info locals' -ex 'delete' -ex 'break square' -ex c -ex 'bt 2' \
        --args "$program" $kernels heat >"$work/gdb" 2>&1
    says 'int i = get_global_id(0);'
    says 'n = 8'
    says 'global_id = {0, 0, 0}'
    says '#0  square (v='
    says 'in heat (x='
done
# There, a breakpoint on the name is before all loops.
SPVFUSE_JIT=gdb timeout 120 gdb -nx -batch -ex 'set breakpoint pending on' -ex 'break heat' -ex run -ex c \
    --args "$program" $kernels heat >"$work/gdb" 2>&1
says 'hit Breakpoint 1, heat '
says 'exited normally'
finish

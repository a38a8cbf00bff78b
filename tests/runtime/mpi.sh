#!/bin/sh
# mpi.sh BUILD: four ranks of docs/examples/advect_mpi.c with one cache, also where locks of files do
# not work; and that threads without work take no time from others.
set -u
build=$(cd "$1" && pwd)
tree=$PWD
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Locks that fail, or that all processes get.
cat >locks.c <<'C'
#include <errno.h>
#include <stdlib.h>
int flock(int file, int operation) {
    (void)file, (void)operation;
    if (!getenv("LOCKS_FAIL")) return 0;
    errno = ENOLCK;
    return -1;
}
C
gcc -shared -fPIC locks.c -o locks.so

# What is left in the cache after a run: entries, without the file of sizes.
entries() { find "$1" -type f ! -name sizes ! -name '*.new' 2>/dev/null | wc -l; }

# ranks CACHE VARIABLE…: four ranks find the right result.
ranks() {
    cache=$1
    shift
    check "four ranks, $cache" env SPVFUSE_CACHE_DIR="$work/$cache" timeout 60 \
        mpirun "$@" -n 4 ./advect kernels.spv
    cp said printed
    check "the result, $cache" grep -q '^4 ranks: 1024 in all, moved by 25$' printed
}

if command -v mpicc >/dev/null && command -v mpirun >/dev/null; then
    clang-22 -target spirv64 -O2 -c "$tree/docs/examples/kernels.cl" -o kernels.spv
    check "the program" mpicc -std=c17 -Wall -Werror -I"$tree" "$tree/docs/examples/advect_mpi.c" \
        "$build/libspvfuse.a" -lm -o advect
    ranks shared
    check "one entry for all ranks: $(ls shared)" [ "$(entries shared)" = 1 ]
    ranks shared
    check "and in the next run, too" [ "$(entries shared)" = 1 ]
    ranks failing -x LOCKS_FAIL=1 -x LD_PRELOAD="$work/locks.so"
    check "nothing is kept without locks" [ "$(entries failing)" = 0 ]
    ranks granted -x LD_PRELOAD="$work/locks.so"
    check "no damage" env SPVFUSE_CACHE_DIR="$work/granted" "$build/spvfuse" cache verify
else
    echo "not run: there is no mpicc or mpirun"
fi

# A program that has launched, and then does something else for a fifth of a second.
cat >idle.c <<'C'
#define _GNU_SOURCE
#include "runtime/spvfuse_queue.h"
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static const char module[] = "target 64\nkernel @k(%p: ptr.global) {\nentry:\n  %i: i64 = global_id 0\n"
                             "  %o: i64 = shl %i, 2\n  %q: ptr.global = ptradd %p, %o\n"
                             "  store i32 1, %q align 4\n  ret\n}\n";
static double used(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
int main(void) {
    spvf_context *c;
    spvf_module *m;
    spvf_device *d;
    spvf_queue *q;
    spvf_program *p;
    spvf_buffer *b;
    if (spvf_context_create(NULL, &c) || spvf_device_open(c, "cpu", &d) || spvf_queue_create(d, NULL, &q) ||
        spvf_module_load(c, "k.ir", module, sizeof module - 1, NULL, &m) || spvf_program_create(d, m, &p) ||
        spvf_buffer_create(d, 64 << 20, NULL, SPVF_COPY_HOST, &b))
        return 1;
    spvf_argument a = {.buffer = b};
    spvf_launch l = {.size = sizeof l,
                     .program = p,
                     .kernel = "k",
                     .range = {.dims = 1, .global = {16 << 20}},
                     .args = &a,
                     .arg_count = 1};
    for (int i = 0; i < 5; i++) spvf_queue_launch(q, &l, NULL, NULL);
    if (spvf_queue_finish(q)) return 1;
    double before = used();
    usleep(200000);
    double waited = used() - before;
    printf("used %.4f s of 0.2 s\n", waited);
    return waited > 0.02;
}
C
check "the program that waits" gcc -std=c17 -D_DEFAULT_SOURCE -I"$tree" idle.c "$build/libspvfuse.a" -lm -o idle
check "threads without work take no time" timeout 20 ./idle
check "four threads, too" env SPVFUSE_THREADS=4 timeout 20 ./idle
finish

#!/bin/sh
# pools.sh BUILD: queues in programs that have threads of OpenMP or TBB (pools.cpp), with as many threads of
# the library as there are processors, and more, and with threads of OpenMP that never sleep.
set -u
build=$(cd "$1" && pwd)
tree=$PWD
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

cat >add.ir <<'IR'
target 64
kernel @add(%p: ptr.global, %a: i32) {
entry:
  %i: i64 = global_id 0
  %o: i64 = shl %i, 2
  %q: ptr.global = ptradd %p, %o
  %v: i32 = load %q align 4
  %s: i32 = add %v, %a
  store %s, %q align 4
  ret
}
IR
program() { # NAME OPTION…
    name=$1
    shift
    check "$name" g++ -std=c++17 -Wall -Werror -O1 -I"$tree" "$tree/tests/runtime/pools.cpp" "$@" \
        "$build/libspvfuse.a" -lm -o "$name"
}
program openmp -fopenmp
check "OpenMP" timeout 30 ./openmp add.ir
check "OpenMP, whose threads do not sleep" env OMP_WAIT_POLICY=active OMP_NUM_THREADS=2 timeout 30 ./openmp add.ir
check "OpenMP, four threads of each" env OMP_NUM_THREADS=4 SPVFUSE_THREADS=4 timeout 30 ./openmp add.ir
if echo '#include <tbb/parallel_for.h>' | g++ -std=c++17 -fsyntax-only -xc++ - 2>/dev/null; then
    program tbb -DTBB -ltbb
    check "TBB" timeout 30 ./tbb add.ir
    check "TBB, four threads of the library" env SPVFUSE_THREADS=4 timeout 30 ./tbb add.ir
else
    echo "not run: there is no TBB"
fi
finish

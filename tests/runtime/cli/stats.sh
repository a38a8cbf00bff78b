#!/bin/sh
# stats.sh BUILD: -stats on small kernels, with the exact numbers, and every counter of counters.def
# at least once.
set -u
spvfuse=$PWD/$1/spvfuse
tree=$PWD
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1
: >seen

cat >k.ir <<'IR'
target 64
func @twice(%x: i32): i32 {
entry:
  %y: i32 = add %x, %x
  ret %y
}
kernel @k(%p: ptr.global of i32, %n: i32) {
entry:
  %v: ptr.private = alloca i32 align 4
  store %n, %v align 4
  %a: i32 = load %v align 4
  %t: i32 = call @twice(%a)
  %b: i32 = mul %n, 8
  %c: i32 = mul %n, 8
  %s: i32 = add %b, %c
  %u: i32 = add %s, %t
  store %u, %p align 4
  %w: i32 = load %p align 4
  %q: ptr.global = ptradd %p, 4
  store %w, %q align 4
  ret
}
IR

# A loop with a constant, and a difference whose operands are exchanged.
cat >loop.ir <<'IR'
target 64
kernel @loop(%p: ptr.global of f32, %n: i64) {
entry:
  jmp head
head:
  %k: i64 = phi [entry: 0, head: %next]
  %x: f32 = phi [entry: 1.0, head: %z]
  %y: f32 = fmul %x, 1.5
  %z: f32 = fadd %y, %x
  %o: i64 = shl %k, 2
  %q: ptr.global = ptradd %p, %o
  store %z, %q align 4
  %next: i64 = add %k, 1
  %more: i1 = ult %next, %n
  br %more, head, done
done:
  ret
}
IR

cat >branch.ir <<'IR'
target 64
func @one(%c: i1, %x: f32): f32 export {
entry:
  %a: f32 = exp %x
  br %c, then, done
then:
  %d: f32 = fadd %a, 1.0
  jmp done
done:
  %r: f32 = phi [entry: %x, then: %d]
  ret %r
}
IR

# A barrier, over which %x is kept, and %o is computed again.
cat >barrier.ir <<'IR'
target 64
kernel @barrier(%p: ptr.global of i32, %q: ptr.global of i32) {
entry:
  %l: i64 = local_id 0
  %o: i64 = shl %l, 2
  %a: ptr.global = ptradd %p, %o
  %x: i32 = load %a align 4
  barrier workgroup workgroup seq_cst local
  %b: ptr.global = ptradd %q, %o
  store %x, %b align 4
  ret
}
IR

# A guard that becomes a bound, then a loop with a barrier: %t and %k cross it, the sum %s of each
# work-item and the counter %k of all.
cat >rounds.ir <<'IR'
target 64
kernel @guard(%p: ptr.global of i32, %n: i64) {
entry:
  %i: i64 = global_id 0
  %in: i1 = ult %i, %n
  br %in, then, done
then:
  %o: i64 = shl %i, 2
  %a: ptr.global = ptradd %p, %o
  store i32 1, %a align 4
  jmp done
done:
  ret
}
kernel @rounds(%p: ptr.global of i32, %n: i32) {
entry:
  %l: i64 = local_id 0
  %o: i64 = shl %l, 2
  %a: ptr.global = ptradd %p, %o
  jmp head
head:
  %k: i32 = phi [entry: 0, head: %next]
  %s: i32 = phi [entry: 0, head: %t]
  %x: i32 = load %a align 4
  %t: i32 = add %s, %x
  barrier workgroup workgroup seq_cst local
  store %t, %a align 4
  %next: i32 = add %k, 1
  %more: i1 = ult %next, %n
  br %more, head, done
done:
  ret
}
IR

# A tree over the items of a group, whose size the launch gives: the first item gets the sum.
cat >tree.ir <<'IR'
target 64
kernel @tree(%p: ptr.global of i32) {
entry:
  %l: i64 = local_id 0
  %size: i64 = local_size 0
  %o: i64 = shl %l, 2
  %a: ptr.global = ptradd %p, %o
  jmp head
head:
  %n: i64 = phi [entry: %size, next: %reach]
  %up: i64 = add %n, 1
  %reach: i64 = lshr %up, 1
  barrier workgroup workgroup seq_cst global
  %other: i64 = add %l, %reach
  %in: i1 = ult %other, %n
  br %in, sum, next
sum:
  %m: i64 = shl %reach, 2
  %b: ptr.global = ptradd %a, %m
  %x: i32 = load %a align 4
  %y: i32 = load %b align 4
  %z: i32 = add %x, %y
  store %z, %a align 4
  jmp next
next:
  %more: i1 = ult i64 1, %reach
  br %more, head, done
done:
  ret
}
IR
for size in 7 37 64 1000; do
    cat >"tree$size.plan" <<PLAN
buffer p i32[$size] = 3
launch "tree.ir":tree global $size local $size args p
expect p[0] = $((3 * size))
PLAN
done

# A barrier of all work-groups, over which %x is kept, and half of the items after it.
cat >phases.ir <<'IR'
target 64
kernel @phases(%p: ptr.global of i32) {
entry:
  %i: i64 = global_id 0
  %o: i64 = shl %i, 2
  %a: ptr.global = ptradd %p, %o
  %x: i32 = load %a align 4
  barrier device device seq_cst global
  %c: i1 = ult %i, i64 32
  br %c, half, done
half:
  %b: ptr.global = ptradd %a, 4
  store %x, %b align 4
  jmp done
done:
  ret
}
IR

# Kernels to fuse: @turn reads what other work-items of its group have written, @mix what other
# groups have.
cat >f.ir <<'IR'
target 64
kernel @add(%p: ptr.global of f32, %k: f32, %q: ptr.global of f32) {
entry:
  %i: i64 = global_id 0
  %o: i64 = shl %i, 2
  %from: ptr.global = ptradd %p, %o
  %x: f32 = load %from align 4
  %y: f32 = fadd %x, %k
  %to: ptr.global = ptradd %q, %o
  store %y, %to align 4
  ret
}
kernel @turn(%p: ptr.global of f32, %q: ptr.global of f32) {
entry:
  %l: i64 = local_id 0
  %g: i64 = group_id 0
  %other: i64 = sub 7, %l
  %first: i64 = shl %g, 3
  %at: i64 = add %first, %other
  %m: i64 = shl %at, 2
  %from: ptr.global = ptradd %p, %m
  %x: f32 = load %from align 4
  %i: i64 = global_id 0
  %o: i64 = shl %i, 2
  %to: ptr.global = ptradd %q, %o
  store %x, %to align 4
  ret
}
kernel @mix(%p: ptr.global of f32, %q: ptr.global of f32) {
entry:
  %i: i64 = global_id 0
  %other: i64 = xor %i, 15
  %m: i64 = shl %other, 2
  %from: ptr.global = ptradd %p, %m
  %x: f32 = load %from align 4
  %o: i64 = shl %i, 2
  %to: ptr.global = ptradd %q, %o
  store %x, %to align 4
  ret
}
kernel @power(%p: ptr.global of f32, %q: ptr.global of f32) {
entry:
  %i: i64 = global_id 0
  %o: i64 = shl %i, 2
  %from: ptr.global = ptradd %p, %o
  %x: f32 = load %from align 4
  %e: f32 = exp %x
  %y: f32 = pow %e, 1.5
  %to: ptr.global = ptradd %q, %o
  store %y, %to align 4
  ret
}
IR

# plan NAME OPTIONS LAUNCH…: NAME.plan with a group of launches.
plan() {
    name=$1 options=$2
    shift 2
    {
        for buffer in x y z w; do echo "buffer $buffer f32[64] = 0.0"; done
        echo "fuse $name $options {"
        printf 'launch "f.ir":%s\n' "$@"
        echo '}'
    } >"$name.plan"
}
plan private '' 'add global 64 args x, 1.0, y internal' 'add global 64 args y internal, 2.0, z'
plan local '' 'add global 64 local 8 args x, 1.0, y internal local' \
    'turn global 64 local 8 args y internal local, z'
plan smaller '' 'add global 64 args x, 1.0, y' 'add global 32 args y, 1.0, z' \
    'add global 4 4 args x, 1.0, w'
plan waits phases 'add global 64 local 8 args x, 1.0, y' 'mix global 64 local 8 args y, z'
plan refused '' 'add global 64 local 8 args x, 1.0, y' 'mix global 64 local 8 args y, z'
plan long '' 'power global 64 local 16 args x, y' 'power global 64 local 16 args y, z' \
    'add global 64 local 16 args x, 1.0, w'

# The products of both words of a number with those of another.
cat >words.ir <<'IR'
target 64
kernel @words(%p: ptr.global of i32) {
entry:
  %i: i64 = global_id 0
  %o: i64 = shl %i, 3
  %a: ptr.global = ptradd %p, %o
  %b: ptr.global = ptradd %a, 4
  %x: i32 = load %a align 4
  %y: i32 = load %b align 4
  %x0: i16 = trunc %x
  %y0: i16 = trunc %y
  %x1: i32 = ashr %x, 16
  %y1: i32 = ashr %y, 16
  %x2: i32 = sext %x0
  %y2: i32 = sext %y0
  %m: i32 = mul %x1, %y1
  %n: i32 = mul %x2, %y2
  %s: i32 = add %m, %n
  store %s, %a align 4
  ret
}
IR

# counts WHAT EXPECTED COMMAND…: the table has exactly these names and numbers; if the variable
# `only` is not empty, among the names that begin with its words.
only=
counts() {
    what=$1
    printf '%s\n' "$2" | tr ';' '\n' | sed 's/^ *//; /^$/d' >want
    shift 2
    "$spvfuse" "$@" -stats >out 2>err
    sed -nE 's/^([a-z]+\.[a-z]+) +([0-9]+)  .*/\1 \2/p' err >all
    cat all >>seen
    grep -E "^(${only:-.})" all >got
    if cmp -s want got; then passed; else failed "$what: $(tr '\n' ';' <got)"; fi
}

# notes PATTERN: a note of the last command.
notes() {
    if grep -q "note: $1" err; then passed; else failed "$what: no '$1' in $(cat err)"; fi
}

counts 'nothing is done' '' opt k.ir -p ''
counts inlining 'inline.calls 1' opt k.ir -p inline
notes 'inline: 15 -> 13 instructions, inline.calls 1$'
counts variables 'inline.calls 1; vars.promoted 1' opt k.ir -p inline,mem2reg
notes 'mem2reg: 13 -> 10 instructions, vars.promoted 1$'
counts 'equal values' 'gvn.merged 1' opt k.ir -p gvn
counts 'loads of what was stored' 'memopt.loads 2' opt k.ir -p memopt
counts 'a branch' 'sink.moved 1' opt branch.ir -p sink
counts regions 'regions.kept 1; regions.loops 6; regions.made 2; regions.repeated 1' \
    opt barrier.ir -p regions
counts 'regions of two kernels' 'regions.bounds 1; regions.coalesced 1; regions.kept 2;
    regions.loops 12; regions.made 6; regions.once 2; regions.repeated 2; regions.uniform 1;
    vars.promoted 1' opt rounds.ir -p regions
counts 'two phases' 'phases.kept 1; phases.made 2; phases.partial 1' opt phases.ir -p phases
only=fusion
counts 'a private buffer' 'fusion.adjacent 1; fusion.constants 2; fusion.kernels 1;
    fusion.members 2; fusion.merged 1; fusion.private 1' fuse private.plan
counts 'a local buffer' 'fusion.barriers 1; fusion.constants 1; fusion.kernels 1; fusion.local 1;
    fusion.members 2; fusion.merged 1' fuse local.plan
counts 'smaller ranges' 'fusion.adjacent 2; fusion.constants 3; fusion.guards 2; fusion.kernels 1;
    fusion.members 3; fusion.merged 2; fusion.remaps 1' fuse smaller.plan
counts 'a barrier of all groups' 'fusion.constants 1; fusion.kernels 1; fusion.members 2;
    fusion.merged 1; fusion.phases 1' fuse waits.plan
counts 'a refusal' '' fuse refused.plan
counts 'long chains' 'fusion.adjacent 2; fusion.constants 1; fusion.kernels 1; fusion.members 3;
    fusion.merged 2' fuse long.plan
counts 'long chains, item by item' 'fusion.adjacent 1; fusion.constants 1; fusion.kernels 1;
    fusion.members 3; fusion.merged 2; fusion.splits 1' run -d cpu long.plan
only=unroll
for size in 7 37 64 1000; do
    counts "a tree over $size items" 'unroll.loops 1' run -d cpu:untiered "tree$size.plan"
done
only=
counts 'the passes in order' 'gvn.merged 1; inline.calls 1; memopt.loads 1; simplify.removed 6;
    simplify.rules 5; vars.promoted 1' opt k.ir
counts 'native code' 'assign.moves 7; assign.reloads 4; assign.slots 8; assign.spills 8;
    gvn.merged 1; inline.calls 1; licm.hoisted 10; memopt.loads 1; regions.loops 3; regions.made 1;
    select.rules 50; simplify.removed 15; simplify.rules 6; simplifycfg.changes 6; spill.folded 4;
    vars.promoted 1' compile k.ir -t x86_64:v3,simd=1 -o k.o
counts 'no registers' 'assign.reloads 119; assign.slots 68; assign.spills 76; gvn.merged 1;
    inline.calls 1; licm.hoisted 10; memopt.loads 1; regions.loops 3; regions.made 1;
    select.rules 50; simplify.removed 15; simplify.rules 6; simplifycfg.changes 6; vars.promoted 1' \
    compile k.ir -t x86_64:v3,simd=1 --regalloc stack -o k.o

counts 'a loop' 'assign.moves 6; assign.reloads 6; assign.slots 9; assign.spills 9; licm.hoisted 6;
    regions.loops 3; regions.made 1; schedule.hoisted 1; select.rules 49; simplify.removed 9;
    simplify.rules 1; simplifycfg.changes 8; spill.folded 4' compile loop.ir -t x86_64:v3,simd=1 -o k.o

# The table is sorted, and descriptions follow the numbers.
what='the order of the table'
sed -nE 's/^([a-z]+\.[a-z]+) +[0-9]+  [a-z].*/\1/p' err >names
if [ -s names ] && LC_ALL=C sort -c names; then passed; else failed "$what"; fi
what='without -stats'
"$spvfuse" compile k.ir -t x86_64:v3,simd=1 -o k.o 2>err
if [ -s err ]; then failed "$what: $(cat err)"; else passed; fi

# Every counter: the cases of golden files, each with its pass, and native code of some.
for pass in copies dse dce indvars licm memopt reassociate sccp simplify simplifycfg strength unroll; do
    "$spvfuse" opt "$tree/tests/passes/scalar/$pass.ir" -p $pass -stats 2>>seen >out
done
"$spvfuse" opt "$tree/tests/passes/workgroup/subgroups.ir" -p regions -stats 2>>seen >out
for pass in components rows indexsets; do
    "$spvfuse" opt "$tree/tests/passes/vectorize/$pass.ir" -p $pass -stats 2>>seen >out
done
for cases in "$tree"/tests/passes/vectorize/*.ir; do
    "$spvfuse" opt "$cases" -p vectorize -stats 2>>seen >out
done
for module in builtins expand; do
    "$spvfuse" opt "$tree/tests/passes/lower/$module.ir" -p expand,builtins -stats 2>>seen >out
done
for module in tests/passes/inline/calls.ir tests/passes/scalar/sccp.ir \
    "$1/corpus/clang22-O2/black_scholes.spv"; do
    "$spvfuse" compile "$tree/$module" -t x86_64:v3 -o k.o -stats 2>>seen >out
done
"$spvfuse" compile "$tree/$1/corpus/clang22-O2/dot_products.spv" -t x86_64:icelake -o k.o -stats \
    2>>seen >out
"$spvfuse" compile words.ir -t x86_64:v3 -o k.o -stats 2>>seen >out
"$spvfuse" compile "$tree/$1/demo/explain.spv" -t x86_64:v4 -o k.o -stats 2>>seen >out
# Groups that wait for each other, by a driver that runs nothing.
cp "$tree/$1/corpus/clang15-O2/cross_group.spv" .
sed '/^expect/d' "$tree/tests/corpus/cross_group_phases.plan" >phases.plan
driver=$tree/$1/tests/runtime/devices/cuda
on_cuda() {
    LD_LIBRARY_PATH=$driver "$spvfuse" run -d "$1" phases.plan --stats 2>"$1.err" >out
    cat "$1.err" >>seen
    grep "^cuda\." "$1.err" | awk -v ORS=';' '{ print $1, $2 }'
}
for expected in 'cuda=cuda.phases 6;' 'cuda:phases=together=cuda.together 3;' \
    'cuda:phases=launches=cuda.phases 6;'; do
    device=${expected%=*}
    if [ "$(on_cuda "$device")" = "${expected##*=}" ]; then passed; else failed "$device"; fi
done
for counter in $(sed -nE 's/^COUNTER\(([a-z]+), ([a-z]+),.*/\1.\2/p' "$tree/ir/counters.def"); do
    if grep -q "^$counter " seen; then passed; else failed "no case counts $counter"; fi
done
finish

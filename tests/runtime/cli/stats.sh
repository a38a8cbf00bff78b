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

# counts WHAT EXPECTED COMMAND…: the table has exactly these names and numbers.
counts() {
    what=$1
    printf '%s\n' "$2" | tr ';' '\n' | sed 's/^ *//; /^$/d' >want
    shift 2
    "$spvfuse" "$@" -stats >out 2>err
    sed -nE 's/^([a-z]+\.[a-z]+) +([0-9]+)  .*/\1 \2/p' err >got
    cat got >>seen
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
counts regions 'regions.kept 1; regions.made 2; regions.repeated 1' opt barrier.ir -p regions
counts 'the passes in order' 'gvn.merged 1; inline.calls 1; memopt.loads 1; simplify.removed 6;
    simplify.rules 5; vars.promoted 1' opt k.ir
counts 'native code' 'assign.moves 7; assign.reloads 4; assign.slots 8; assign.spills 8;
    gvn.merged 1; inline.calls 1; licm.hoisted 10; memopt.loads 1; regions.made 1; select.rules 54;
    simplify.removed 15; simplify.rules 6; simplifycfg.changes 5; spill.folded 4;
    vars.promoted 1' compile k.ir -t x86_64:v3 -o k.o
counts 'no registers' 'assign.reloads 123; assign.slots 72; assign.spills 80; gvn.merged 1;
    inline.calls 1; licm.hoisted 10; memopt.loads 1; regions.made 1; select.rules 54; simplify.removed 15;
    simplify.rules 6; simplifycfg.changes 5; vars.promoted 1' compile k.ir -t x86_64:v3 --regalloc stack -o k.o

counts 'a loop' 'assign.moves 6; assign.reloads 6; assign.slots 9; assign.spills 9; licm.hoisted 6;
    regions.made 1; schedule.hoisted 1; select.rules 53; simplify.removed 9; simplify.rules 1;
    simplifycfg.changes 7; spill.folded 4' compile loop.ir -t x86_64:v3 -o k.o

# The table is sorted, and descriptions follow the numbers.
what='the order of the table'
sed -nE 's/^([a-z]+\.[a-z]+) +[0-9]+  [a-z].*/\1/p' err >names
if [ -s names ] && LC_ALL=C sort -c names; then passed; else failed "$what"; fi
what='without -stats'
"$spvfuse" compile k.ir -t x86_64:v3 -o k.o 2>err
if [ -s err ]; then failed "$what: $(cat err)"; else passed; fi

# Every counter: the cases of golden files, each with its pass, and native code of some.
for pass in dse dce indvars licm memopt reassociate sccp simplify simplifycfg strength unroll; do
    "$spvfuse" opt "$tree/tests/passes/scalar/$pass.ir" -p $pass -stats 2>>seen >out
done
"$spvfuse" opt "$tree/tests/passes/vectorize/vectorize.ir" -p vectorize -stats 2>>seen >out
for module in builtins expand; do
    "$spvfuse" opt "$tree/tests/passes/lower/$module.ir" -p expand,builtins -stats 2>>seen >out
done
for module in tests/passes/inline/calls.ir tests/passes/scalar/sccp.ir \
    "$1/corpus/clang22-O2/black_scholes.spv"; do
    "$spvfuse" compile "$tree/$module" -t x86_64:v3 -o k.o -stats 2>>seen >out
done
for counter in $(sed -nE 's/^COUNTER\(([a-z]+), ([a-z]+),.*/\1.\2/p' "$tree/ir/counters.def"); do
    if grep -q "^$counter " seen; then passed; else failed "no case counts $counter"; fi
done
finish

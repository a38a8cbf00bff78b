#!/bin/sh
# facts.sh BUILD: code of device cpu is made for facts about launches; each can be left out, which
# changes no result, and is counted and explained.  Of a struct by value they hold for members.
set -u
spvfuse=$PWD/$1/spvfuse
json=$PWD/$1/tests/json
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

# body SPACE: what the kernels do; %q leads to that space.
body() {
    cat <<IR
  %g: i64 = global_id 0
  %l: i64 = local_id 0
  %size: i64 = local_size 0
  %i: i32 = trunc %g
  %x: i64 = sext %i
  %o: i64 = shl %x, 2
  %a: ptr.global = ptradd %p, %o
  %b: ptr.$1 = ptradd %q, %o
  %v: i32 = load %a align 4
  %n2: i32 = mul %n, %m
  %w: i32 = mul %v, %n2
  %t: i64 = add %l, %size
  %u: i32 = trunc %t
  %r: i32 = add %w, %u
  %lo: i64 = shl %l, 2
  %at: ptr.local = ptradd %loc, %lo
  store %r, %at align 4
  %r2: i32 = load %at align 4
  store %r2, %b align 4
  ret
IR
}
cat >k.ir <<IR
target 64
kernel @k(%p: ptr.global of i32, %q: ptr.global of i32, %n: i32, %m: i32 specialized, %spare: i32, %loc: ptr.local of i32) {
entry:
$(body global)
}
IR
"$spvfuse" compile k.ir -t spirv -o k.spv || exit 1
cat >k.plan <<'PLAN'
buffer x i32[4096] = iota
buffer y i32[4096]
launch "k.spv":k global 4096 1 local 64 1 args x, y, 3, 1, 9, local 256
expect y[0] = 64
expect y[4095] = 12412
PLAN
facts="local-size no-offset small-ids dimensions apart on-lines streams values local-memory unused-arguments specialized short-numbers"

# The same with a closure.
cat >c.ir <<IR
target 64
kernel @k(%s: ptr.private byval(32) align 8 of {ptr.global, ptr.generic, i32, i32 specialized, i32}, %loc: ptr.local of i32) {
entry:
  %s8: ptr.private = ptradd %s, 8
  %s16: ptr.private = ptradd %s, 16
  %s20: ptr.private = ptradd %s, 20
  %p: ptr.global = load %s align 8
  %q: ptr.generic = load %s8 align 8
  %n: i32 = load %s16 align 4
  %m: i32 = load %s20 align 4
$(body generic)
}
IR
sed 's/k\.spv/c.ir/; s/args x, y, 3, 1, 9,/args {x, y, 3, 1, 9},/' k.plan >c.plan

# run OPTIONS: the plan, as JSON, in the file `result`.
run() { "$spvfuse" run -d "cpu:eager,caches=1024$1" "$plan" --json >result 2>text; }
launches() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" result; }

for plan in k.plan c.plan; do
    check "$plan: a run with all facts" run ""
    check "$plan: JSON" "$json" <result
    for fact in $facts; do check "$plan: $fact is used" [ "$(launches "$fact")" = 1 ]; done
    for fact in $facts; do
        check "$plan: a run without $fact" run ",without=$fact"
        for other in $facts; do
            want=$([ "$other" = "$fact" ] && echo 0 || echo 1)
            check "$plan: without $fact: $other $want" [ "$(launches "$other")" = "$want" ]
        done
    done
    check "$plan: a run without facts" run ",without=all"
    for fact in $facts; do check "$plan: $fact is not used" [ "$(launches "$fact")" = 0 ]; done
done

# code COUNT PATTERN OPTIONS STAGE: lines with the pattern in the last code after the stage, of a
# launch of the closure.
code() {
    without=${3-}
    "$spvfuse" run -d "cpu:eager,caches=1024$without" c.plan --dump-after "${4-dce}" 2>&1 |
        awk '/^; after/ { text = "" } { text = text "\n" $0 } END { print text }' >text
    check "c.plan$without: $1 times $2" [ "$(grep -c -- "$2" text)" = "$1" ]
}
code 2 '= load .* noalias'
code 0 '= load .* noalias' ,without=apart
code 2 '= load .* line$'
code 0 '= load .* line$' ,without=on-lines
code 0 'ptr.const = load '
code 1 'ptr.const = load ' ,without=values
code 0 'ptr.const = load ' ,without=specialized
code 2 'ptr.const = load ' ,without=values,without=specialized
code 1 '^kernel .*%s.16: i32 short .* short_ids' '' inline
code 0 '^kernel .* short' ,without=short-numbers inline
check "no such fact" sh -c '! "$0" run -d cpu:without=luck k.plan 2>/dev/null' "$spvfuse"

"$spvfuse" run -d cpu:eager,without=apart k.plan --times 2>text
check "--times" grep -q '^native launches 1, variants [12] in [0-9.]* ms, made for: local-size 1, no-offset 1, small-ids 1, dimensions 1, on-lines 1, values 1, local-memory 1, unused-arguments 1, specialized 1, short-numbers 1$' text
"$spvfuse" run -d cpu:without=all k.plan --times 2>text
check "--times without facts" grep -q '^native launches 1, variants 1 in [0-9.]* ms, made for: any launch$' text
cat >pair.plan <<'PLAN'
buffer x i32[4096] = iota
buffer y i32[4096]
buffer z i32[4096]
fuse pair {
  launch "k.spv":k global 4096 local 64 args x, y, 3, 1, 9, local 256
  launch "k.spv":k global 4096 local 64 args y, z, 3, 1, 9, local 256
}
PLAN

cat >rows.ir <<'IR'
target 64
kernel @rows(%p: ptr.global of i32, %n: i32) {
entry:
  %x64: i64 = global_id 0
  %y64: i64 = global_id 1
  %x: i32 = trunc %x64
  %y: i32 = trunc %y64
  %row: i32 = mul %y, %n
  %at: i32 = add %row, %x
  %wide: i64 = zext %at
  %high: i64 = lshr %wide, 31
  %v: i32 = trunc %high
  %y6: i64 = shl %y64, 6
  %i: i64 = add %y6, %x64
  %o: i64 = shl %i, 2
  %q: ptr.global = ptradd %p, %o
  store %v, %q align 4
  ret
}
IR
# rows NUMBER COUNT BIT: bit 31 of where rows of NUMBER begin; COUNT launches have short numbers.
rows() {
    cat >rows.plan <<PLAN
buffer p i32[256]
launch "rows.ir":rows global 64 4 args p, 5
launch "rows.ir":rows global 64 4 args p, $1
expect p[63] = 0
expect p[64] = $3
expect p[191] = 0
expect p[192] = $3
PLAN
    check "rows of $1" "$spvfuse" run -d cpu:eager rows.plan
    "$spvfuse" run -d cpu:eager rows.plan --json >result
    check "rows of $1: $2 are short" [ "$(launches short-numbers)" = "$2" ]
}
rows 32767 2 0
rows 32768 1 0
rows 2147483648 1 1
"$spvfuse" explain -v pair.plan -t x86_64:v3,without=apart,without=small-ids >text 2>&1
check "explain" grep -q 'made for: local-size, no-offset, dimensions, on-lines' text
finish

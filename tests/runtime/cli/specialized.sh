#!/bin/sh
# specialized.sh BUILD: arguments that plans mark as specialized.  Values of each type have the
# results of check and of code for any value; there is code for so many values, and it is cached.
set -u
spvfuse=$PWD/$1/spvfuse
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1
export SPVFUSE_CACHE_DIR="$work/cache" SPVFUSE_CACHE=0
mkdir -m 700 "$work/cache"

# launches FACT: how many launches of the last run had it, by its JSON in the file `result`.
launches() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" result; }

# same TYPE ELEMENT COUNT BYTES: a kernel that stores its argument, of COUNT elements.
same() {
    cat >k.ir <<IR
target 64
kernel @k(%p: ptr.global, %x: $1) {
entry:
  store %x, %p align 1
  ret
}
IR
    values="7, 1, 2, 100, 5, 6, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16"
    values=$(echo "$values" | cut -d, -f "1-$3")
    cat >k.plan <<PLAN
buffer p bytes[$4]
scalar x $2[$3] = $values
launch "k.ir":k global 1 args p, specialized x
write p "out"
PLAN
    for device in check cpu cpu:without=specialized cpu:simd=4 cpu:eager; do
        "$spvfuse" run -d "$device" k.plan --json >result || return 1
        case $device in
        cpu:without*) [ "$(launches specialized)" = 0 ] || return 1 ;;
        cpu*) [ "$(launches specialized)" = 1 ] || return 1 ;;
        esac
        [ "$device" = check ] && mv out first && continue
        cmp out first || return 1
    done
}
for n in 1 2 3 4 8 16; do
    for t in i8:1 i16:2 i32:4 i64:8 f16:2 f32:4 f64:8; do
        type=${t%:*} size=${t#*:} lanes=$n
        [ "$n" = 1 ] && ir=$type || ir=v$n$type
        [ "$n" = 3 ] && lanes=4
        check "a $ir" same "$ir" "$type" "$n" $((size * lanes))
    done
done
cat >s.ir <<'IR'
target 64
kernel @k(%p: ptr.global of i32, %s: ptr.private byval(8) align 4 of {i32, i16}) {
entry:
  %q: ptr.private = ptradd %s, i64 4
  %a: i32 = load %s align 4
  %b: i16 = load %q align 2
  %c: i32 = zext %b
  %r: i32 = add %a, %c
  store %r, %p align 4
  ret
}
IR
cat >s.plan <<'PLAN'
buffer p i32[1]
scalar s i32[2] = 40, 2
launch "s.ir":k global 1 args p, specialized s
expect p[0] = 42
PLAN
check "a struct" "$spvfuse" run -d cpu s.plan --json
"$spvfuse" run -d cpu s.plan --json >result
check "a struct is a constant" [ "$(launches specialized)" = 1 ]
cat >c.ir <<'IR'
target 64
kernel @k(%s: ptr.private specialized byval(16) align 8 of {ptr.global, i32}) {
entry:
  %q: ptr.private = ptradd %s, i64 8
  %p: ptr.global = load %s align 8
  %n: i32 = load %q align 4
  store %n, %p align 4
  ret
}
IR
printf 'buffer p i32[1]\nlaunch "c.ir":k global 1 args {p, 5}\nexpect p[0] = 5\n' >c.plan
"$spvfuse" run -d cpu c.plan --json >result
check "members of a closure that are no pointers" [ "$(launches specialized)" = 1 ]

# Marked members, of the text and of SPIR-V: other members are not constants.  The struct without
# pointers stays one for programs that set it, and its member is marked all the same.
cat >m.ir <<'IR'
target 64
struct "closure" = {ptr.global, i32 specialized, i32}
kernel @k(%s: ptr.private byval(16) align 8 of {ptr.global, i32 specialized, i32}, %t: ptr.private byval(8) align 4 of {i32, i32 specialized}) {
entry:
  %q: ptr.private = ptradd %s, i64 8
  %r: ptr.private = ptradd %s, i64 12
  %u: ptr.private = ptradd %t, i64 4
  %p: ptr.global = load %s align 8
  %n: i32 = load %q align 4
  %m: i32 = load %r align 4
  %o: i32 = load %u align 4
  %a: i32 = mul %n, %m
  %b: i32 = add %a, %o
  store %b, %p align 4
  ret
}
IR
for n in "5, 6" "5, 7" "5, 8" "6, 8"; do
    echo "launch \"m.ir\":k global 1 args {p, $n}, {1, 2}"
    echo "expect p[0] = $((${n%,*} * ${n#*,} + 2))"
done >m.lines
{ echo 'buffer p i32[1]' && cat m.lines; } >m.plan
for device in check cpu cpu:without=specialized cpu:eager; do
    check "marked members on $device" "$spvfuse" run -d "$device" m.plan
done
"$spvfuse" run -d cpu m.plan --json >result
check "marked members are constants" [ "$(launches specialized)" = 4 ]
check "and no others" [ "$(launches variants)" = 2 ]
check "marked members in SPIR-V" "$spvfuse" compile m.ir -t spirv -o m.spv
check "which is valid" spirv-val m.spv
spirv-dis m.spv >text
check "has decorations" [ "$(grep -c 'OpMemberDecorateString .* 1 UserSemantic "specialized"' text)" = 2 ]
sed -i 's/m\.ir/m.spv/' m.plan
"$spvfuse" run -d cpu m.plan --json >result
check "that are read" [ "$(launches specialized)" = 4 ]

# The type of a union is that of one of its members: others read its padding.
cat >u.ir <<'IR'
target 64
kernel @k(%p: ptr.global of i32, %s: ptr.private specialized byval(8) align 4 of {i8, i32}) {
entry:
  %a: i32 = load %s align 4
  store %a, %p align 4
  ret
}
kernel @b(%p: ptr.global of i32, %s: i1 specialized) {
entry:
  %a: i32 = zext %s
  store %a, %p align 4
  ret
}
IR
cat >u.plan <<'PLAN'
buffer p i32[1]
scalar s i32[2] = 19088743, 2
launch "u.ir":k global 1 args p, s
expect p[0] = 19088743
launch "u.ir":b global 1 args p, 1
expect p[0] = 1
fuse pair strict {
  launch "u.ir":k global 1 args p, s
  launch "u.ir":k global 1 args p, s
}
expect p[0] = 19088743
PLAN
check "bytes of a union, and a truth value" "$spvfuse" run -d cpu u.plan

# Nine values: the ninth runs the code for any, and the first ones keep theirs.
cat >n.ir <<'IR'
target 64
kernel @k(%p: ptr.global of i32, %n: i32 specialized, %m: i32) {
entry:
  %g: i64 = global_id 0
  %o: i64 = shl %g, 2
  %a: ptr.global = ptradd %p, %o
  %v: i32 = mul %n, %m
  store %v, %a align 4
  ret
}
IR
echo 'buffer p i32[64]' >n.plan
for n in 1 2 3 4 5 6 7 8 9 10 1 9; do
    echo "launch \"n.ir\":k global 64 args p, $n, 2"
    echo "expect p[63] = $((2 * n))"
done >>n.plan
"$spvfuse" run -d cpu n.plan --json -v >result 2>text
check "launches with constants" [ "$(launches specialized)" = 9 ]
check "variants" [ "$(launches variants)" = 9 ]
check "that is said" grep -q "note: kernel @k: its specialized arguments have had more than 8 values" text
check "and once" [ "$(grep -c 'more than 8' text)" = 1 ]

# Code for values is kept, each under a key of its own.
export SPVFUSE_CACHE=1
entries() { "$spvfuse" cache stats --json | sed -n 's/.*"entries":\([0-9]*\).*/\1/p'; }
check "a run that fills the cache" "$spvfuse" run -d cpu n.plan
check "an entry for each value, and for any" [ "$(entries)" = 9 ]
check "a run from the cache" "$spvfuse" run -d cpu n.plan
check "the same entries" [ "$(entries)" = 9 ]
check "a run without constants" "$spvfuse" run -d cpu:without=specialized n.plan
check "has the code for any" [ "$(entries)" = 9 ]
export SPVFUSE_CACHE=0

# Through SPIR-V, explained, and refused.
check "SPIR-V" "$spvfuse" compile n.ir -t spirv -o n.spv
check "is valid" spirv-val n.spv
"$spvfuse" info n.spv >text
check "keeps the mark" grep -q '1: value n, 4 bytes, align 4, specialized$' text
cat >pair.plan <<'PLAN'
buffer p i32[64]
fuse pair no_barriers {
  launch "n.ir":k global 64 args p, 3, 2
  launch "n.ir":k global 32 offset 8 args p, 4, 2
}
PLAN
"$spvfuse" explain -v pair.plan -t x86_64:v3 >text 2>&1
check "explained" grep -q 'made for:.*specialized' text
"$spvfuse" explain -v pair.plan -t x86_64:v3,without=specialized >text 2>&1
check "explained without" sh -c '! grep -q "made for:.*specialized" text'
printf 'buffer p i32[64]\nlaunch "n.ir":k global 64 args specialized p, 3, 2\n' >bad.plan
"$spvfuse" run bad.plan 2>text
check "a buffer" grep -q "^bad.plan:2:44: error: only values can be specialized$" text
sed 's/of i32, %n/specialized of i32, %n/' n.ir >bad.ir
"$spvfuse" info bad.ir 2>text
check "a pointer" grep -q 'parameter 0 is specialized and has no value' text
finish

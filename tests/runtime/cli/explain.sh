#!/bin/sh
# explain.sh BUILD: what `spvfuse explain` says of code: which loops over work-items become vectors, of
# how many work-items and rows, how each access is done, and why others do not.
#
# forms.txt and forms.json (without the sizes of code, which change often) beside this file are the text and the JSON of code for 16 lanes, for each
# form of access (forms.cl).  BLESS=1 rewrites them.
set -u
spvfuse=$PWD/$1/spvfuse
json=$PWD/$1/tests/json
plan=$PWD/$1/tests/forms.plan
demo=$PWD/$1/demo/explain.plan
heat=$PWD/$1/demo/heat.plan
kernels=$PWD/docs/examples/kernels.cl
here=$PWD/tests/runtime/cli
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

explain() { "$spvfuse" explain -v "$@" 2>said; }
code() { awk '/^group/ { on = 0 } /^  code of/ { on = 1 } on && NF'; }

# golden NAME: the input is the golden file of that name.
golden() {
    cat >"$1"
    [ -z "${BLESS:-}" ] || cp "$1" "$here/$1"
    if cmp -s "$here/$1" "$1"; then
        passed
    else
        failed "$1 has changed: $(diff "$here/$1" "$1"); if this is right: BLESS=1 sh tests/runtime/cli/explain.sh"
    fi
}

target=x86_64:v4,simd=16
explain "$plan" -t "$target" | code >text
golden forms.txt <text
explain "$plan" -t "$target" --json | sed 's/,"size":{[^}]*},"assembly":null//g; s/,"ir":null}/}/g' | grep -o '"code":.*' | sed 's/"code":/\n&/g' |
    sed -n 's/^\("code":.*\)\]},{.*/\1]/p; s/^\("code":.*\)\]}\]}$/\1]/p' | sed 's/,{/,\n  {/g' >text
golden forms.json <text
# shellcheck disable=SC2016
check "JSON" sh -c '"$0" explain "$1" -t x86_64:v2 --json 2>/dev/null | "$2"' "$spvfuse" "$plan" "$json"

# says TARGET TEXT: that code for the target says so, where * is for anything.
says() {
    # shellcheck disable=SC2254
    case $(explain "$plan" -t "$1" | code) in
    $2) passed ;;
    *) failed "$1: not: $2" ;;
    esac
}
says x86_64:v4 '*code of @one for x86_64:v4 on {1024/64}*work-items at a time; estimate: 0.* of the time of one*'
says x86_64:v4 '*code of @fourteen*one work-item at a time: it would not be faster; estimate for vectors:*1.*slower_x*gather*'
says x86_64:v2 '*code of @four *code of @six*one work-item at a time: *'
says x86_64:v4,simd=1 '*code of @one*no loop over work-items could become vectors*'
says x86_64,calls '*code of @one for x86_64,calls on*'

# Without a target it is that of device cpu; a group that is not fused has the code of its members.
check "the machine's" sh -c '"$0" explain -v "$1" 2>/dev/null | grep -q "^  code of @one for"' "$spvfuse" "$plan"
check "SPVF_CPU" sh -c 'SPVF_CPU=v2,simd=4 "$0" explain -v "$1" 2>/dev/null |
    grep -q "^  code of @one for [a-z0-9_]*:v2,simd=4"' "$spvfuse" "$plan"
check "members" sh -c '"$0" explain -v "$1" -t x86_64:v3 | grep -c "^  code of @s[ql]" | grep -qx 2' \
    "$spvfuse" "$demo"
# Launches of a kernel on the same range have the same code, which is said once.
cp "${demo%.plan}.spv" .
cat >again.plan <<'END'
buffer x f32[1024] = iota
buffer y f32[1025] = 0.0
buffer d f32[1024]
fuse again {
  launch "explain.spv":square global 1024 local 64 args x, y
  launch "explain.spv":slope global 1024 local 64 args y, d
  launch "explain.spv":square global 1024 local 64 args x, d
  launch "explain.spv":square global 512 local 64 args x, d
  launch "explain.spv":square global 1024 local 32 args x, d
}
END
ranges=$(explain again.plan -t x86_64:v3 | sed -n 's/^  code of @\([a-z]*\) .* on /\1 /p' | tr '\n' ' ')
check "each range once: $ranges" [ "$ranges" = 'square {1024/64} slope {1024/64} square {512/64} square {1024/32} ' ]

for wrong in x86_64:v4,text spirv pdp11 ''; do
    check "target '$wrong'" sh -c '! "$0" explain "$1" -t "$2" 2>said &&
        grep -q "error: unknown target .* of native code: x86_64" said' "$spvfuse" "$demo" "$wrong"
done

# ---- lines about parts: wrapped, repeated kernels are counted, long names are cut
: >empty.plan
check "an empty plan" sh -c '"$0" explain --auto empty.plan | grep -qx "nothing to fuse: the plan has no launch"' "$spvfuse"
: >many.plan
n=0
while [ $n -lt 70 ]; do
    echo "buffer b$n f32[4096] = 1.0" >>many.plan
    [ $n -eq 0 ] || echo "launch \"kernels.cl\":scale global 4096 local 64 args 2.0, b$((n - 1)), b$n" >>many.plan
    n=$((n + 1))
done
cp "$kernels" kernels.cl
"$spvfuse" explain --auto many.plan >text
check "a limit is the reason: $(cat text)" grep -qx 'one kernel is made of at most 64 launches' text
check "kernels are counted: $(cat text)" grep -q '^scale_scale_.*…: @scale (64 times) become one' text
check "no line is too long: $(cat text)" sh -c '! grep -qE "^.{101}" text'
"$spvfuse" explain "$heat" >text
check "phases are counted: $(cat text)" sh -c 'tr "\n" " " <text | grep -q "become one kernel of 3 phases"'
finish

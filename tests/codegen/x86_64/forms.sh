#!/bin/sh
# forms.sh BUILD: the instructions of each form of vector code, at three levels: those that must be
# there, and none that it should do without: no gather where loads and shuffles serve, no access of
# single lanes in a loop of vectors.
#
# A row is "LEVEL KERNEL MUST NOT": kernels of forms.cl, and extended regular expressions for whole
# mnemonics, each of which must occur in the function of a box of groups, or must not; "-": none.
# Expressions of MUST are separated by commas.
set -u
spvfuse=$PWD/$1/spvfuse
module=$PWD/$1/tests/code_forms.spv
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

for way in v2,simd=4 v3,simd=8 v4,simd=16; do
    "$spvfuse" compile -S -t "x86_64:$way" "$module" >"${way%,*}.s" 2>/dev/null
done

# The mnemonics of a kernel at a level, one a line; a prefix is one.
mnemonics() {
    awk -v name="$2.block:" '/^[^ \t.]/ { on = $1 == name } on && /^[ \t]/ { print $1 }' "$1.s"
}

while read -r level kernel must not; do
    [ -n "$level" ] || continue
    mnemonics "$level" "$kernel" >found
    check "$level $kernel: no code" test -s found
    for word in $(echo "$must" | tr , ' '); do
        [ "$word" = - ] || check "$level $kernel: no $word" grep -qxE "$word" found
    done
    [ "$not" = - ] || check "$level $kernel: $(grep -xE "$not" found | sort -u | tr '\n' ' ')" \
        sh -c '! grep -qxE "$0" found' "$not"
done <<'END'
v4 contiguous vmovups,vfmadd[0-9]*ps v?(gather|scatter|perm|insert|extract).*|.*ss
v4 backwards vpermd,vmovups,vpmovm2d v?(gather|pextr|pinsr|kshift).*
v4 one_for_all vbroadcastss|vfmadd213ps v?(gather|pextr|pinsr).*
v4 every_second vpermt2d,vmovups,vsubps v?(gather|scatter|pextr|pinsr|insertps).*
v4 pairs vpermt2d,vmovups v?(gather|scatter|pextr|pinsr|insertps).*
v4 triples vpermt2d,vmovups v?(gather|scatter|pextr|pinsr|insertps).*
v4 quads vpermt2d,vmovups v?gather.*
v4 components vmovups,vpxor v?(gather|scatter|perm|shuf|pshuf).*
v4 apart vinsertps v?(pextr|pinsr).*
v4 far_apart vgatherdps v?(pextr|pinsr|insertps).*
v4 scattered vscatterdps v?(pextr|pinsr|insertps|gather).*
v4 masked vcmp[a-z]*ps,vmovups v?(gather|scatter|kshift|blend).*
v4 clamped vaddps,vmovups v?(gather|scatter|pextr|insertps).*
v4 product vfmadd231ps,vmovups v?(gather|scatter|pextr|insertps).*
v4 privately vpaddd v?(gather|scatter|pextr|insertps).*
v4 counted popcnt,lock,kmov[a-z] v?(gather|scatter|pextr|p?compress).*
v3 contiguous vmovups,vfmadd[0-9]*ps v?(gather|perm|insert|extract).*
v3 backwards vpermd,vmovups v?(gather|pextr|pinsr|insertps).*
v3 every_second vshufps,vpermq,vsubps v?(gather|pextr|pinsr|insertps).*
v3 pairs vpermd,vpblendd v?(gather|pextr|pinsr).*
v3 triples vpermd,vpblendd v?(gather|pextr|pinsr|insertps).*
v3 quads vshufps,vpermq v?(gather|pextr|pinsr).*
v3 components vpxor v?(gather|perm|shuf|pshuf).*
v3 apart vinsertps v?(gather|pextr|pinsr).*
v3 far_apart vgatherdps v?(pextr|pinsr).*
v3 scattered vmovss v?gather.*
v3 masked vcmp[a-z]*ps,vmaskmovps v?(gather|pextr).*
v3 product vfmadd231ps,vmovups v?(gather|pextr).*
v3 counted popcnt,lock,vpmovmskb v?(gather|pextr).*
v2 contiguous movups,mulps|addps pextr.*|insertps
v2 backwards pshufd,movups pextr.*|insertps|pinsr.*
v2 every_second shufps,movups,subps pextr.*|insertps|pinsr.*
v2 pairs movups,shufps|punpck[lh]dq pextr.*|pinsr.*
v2 quads movups,shufps pextr.*|pinsr.*
v2 components pxor pextr.*|pinsr.*|pshuf.*
v2 apart insertps|pinsrd -
v2 masked cmp[a-z]*ps,pextrd -
v2 counted popcnt,lock -
END
finish

#!/bin/sh
# corpus.sh BUILD: kernels of the corpus as PTX, for processors that take turns.  Where NVIDIA's
# ptxas is found, it assembles all of it without a warning.  Kernels are left out for three reasons
# only.  What ptxas says about them is added up and compared with the last state, resources.txt, if
# that is from the same ptxas: no kernel spills more, and registers are at most 2 % more.  BLESS=1
# writes that file.
set -u
build=$1
# shellcheck source=tests/count.sh
. tests/count.sh
ptxas=$(command -v ptxas || ls "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" 2>/dev/null)
[ -n "$ptxas" ] || echo "ptxas is not there: nothing is assembled"

only_known_reasons() {
    ! grep -E 'is left out|error' "$work/err" |
        grep -vE 'is an image or a sampler|printf has no form in PTX|requires sub-groups of (4|8|16|64),|no kernel is left'
}

check_module() {
    "$build/spvfuse" compile "$1" -t "ptx:$2" -o "$work/out.ptx" 2>"$work/err" ||
        { only_known_reasons && return 0; }
    only_known_reasons || return 1
    [ -n "$ptxas" ] || return 0
    "$ptxas" -v -arch="$2" -o /dev/null "$work/out.ptx" >"$work/said" 2>&1
    passed=$?
    cat "$work/said" >>"$work/resources"
    [ $passed = 0 ] && ! grep -qv '^ptxas info \|^    [0-9]* bytes' "$work/said" && return 0
    grep -v '^ptxas info \|^    [0-9]* bytes' "$work/said" | head -n 3
    return 1
}

# Kernels, registers, bytes that are spilled, and barriers of all kernels.
add_up() {
    awk '/Used [0-9]+ registers/ { kernels++; registers += $5
             for (n = 1; n <= NF; n++) if ($n ~ /^barriers/) barriers += $(n - 1) }
         /bytes spill stores/ { for (n = 1; n <= NF; n++) if ($n == "spill") spills += $(n - 2) }
         END { print kernels + 0, registers + 0, spills + 0, barriers + 0 }' "$work/resources"
}

check_resources() {
    # shellcheck disable=SC2046
    set -- $(add_up) $(sed -n 2p "$recorded")
    echo "kernels $1, registers $2, spills $3, barriers $4"
    [ "$1" = "$5" ] && [ "$2" -le $(($6 + $6 / 50)) ] && [ "$3" -le "$7" ] && [ "$4" -le "$8" ]
}

next=sm_75
for module in "$build"/corpus/clang15-O2/*.spv; do
    check "$module" check_module "$module" $next
    case $next in sm_75) next=sm_80 ;; sm_80) next=sm_90 ;; *) next=sm_75 ;; esac
done
recorded=tests/codegen/ptx/resources.txt
if [ -n "$ptxas" ]; then
    version=$("$ptxas" --version | sed -n 's/.*release .*, \(V[0-9.]*\)/ptxas \1: kernels, registers, bytes of spills, barriers/p')
    [ -z "${BLESS:-}" ] || { echo "$version"; add_up; } >"$recorded"
    [ "$version" != "$(head -n 1 "$recorded")" ] || check "resources of kernels" check_resources
fi
finish

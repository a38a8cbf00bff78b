#!/bin/sh
# corpus.sh BUILD: kernels of the corpus as PTX, for processors that take turns.  Where NVIDIA's
# ptxas is found, it assembles all of it without a warning.  Kernels are left out for two reasons
# only.
set -u
build=$1
# shellcheck source=tests/count.sh
. tests/count.sh
ptxas=$(command -v ptxas || ls "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" 2>/dev/null)
[ -n "$ptxas" ] || echo "ptxas is not there: nothing is assembled"

only_known_reasons() {
    ! grep -E 'is left out|error' "$work/err" |
        grep -vE 'is an image or a sampler|printf has no form in PTX|no kernel is left'
}

check_module() {
    "$build/spvfuse" compile "$1" -t "ptx:$2" -o "$work/out.ptx" 2>"$work/err" ||
        { only_known_reasons && return 0; }
    only_known_reasons || return 1
    [ -n "$ptxas" ] || return 0
    "$ptxas" -arch="$2" -o /dev/null "$work/out.ptx" >"$work/said" 2>&1 && [ ! -s "$work/said" ] && return 0
    head -n 3 "$work/said"
    return 1
}

next=sm_75
for module in "$build"/corpus/clang15-O2/*.spv; do
    check "$module" check_module "$module" $next
    case $next in sm_75) next=sm_80 ;; sm_80) next=sm_90 ;; *) next=sm_75 ;; esac
done
finish

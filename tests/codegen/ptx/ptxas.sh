# shellcheck shell=sh
# ptxas.sh — sourced by the suites of this folder: NVIDIA's ptxas, if it is there, and the processors
# that code is assembled for.
ptxas=$(command -v ptxas || ls "${CUDA_HOME:-/usr/local/cuda}/bin/ptxas" 2>/dev/null)

knows() { ! "$ptxas" -arch="$1" --version 2>&1 | grep -q "not defined"; }

# The oldest one that it knows, sm_80, sm_90, and its newest one.
processors=
if [ -n "$ptxas" ]; then
    for sm in sm_70 sm_75; do knows $sm && break; done
    processors="$sm sm_80 sm_90"
    for sm in sm_120 sm_100; do knows $sm && processors="$processors $sm" && break; done
fi

# assemble FILE PROCESSOR [OPTION …]: without a word.
assemble() {
    "$ptxas" "$1" -o /dev/null -arch="$2" "${3:--O3}" >"$work/assembled" 2>&1 &&
        [ ! -s "$work/assembled" ] && return 0
    head -n 5 "$work/assembled"
    return 1
}

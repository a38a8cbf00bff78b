#!/bin/sh
# short.sh BUILD [TEST…]: some of what programs.sh runs, those whose packages are small and that are
# done in seconds, on our implementation alone; or the tests that are named.
set -u
OCL_ICD_VENDORS=$(cd "$1" && pwd)/spvfuse.icd
PROGRAMS=$(mktemp -d)
export OCL_ICD_VENDORS PROGRAMS XDG_CACHE_HOME="$PROGRAMS"
trap 'rm -rf "$PROGRAMS"' EXIT
shift
[ $# != 0 ] || set -- clinfo clpeak/kernel-latency pyopencl clfft/-x:64 clfft/-x:1000 clfft/-x:8:-y:8:-z:8

for test; do
    sh tests/conformance/program.sh "$test"
done | tee "$PROGRAMS/all" | awk '$3' # those that fail
awk '{ p += $2; f += $3 } END { printf "%d passed, %d failed\n", p, f; exit f != 0 }' "$PROGRAMS/all"

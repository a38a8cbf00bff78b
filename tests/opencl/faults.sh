#!/bin/sh
# faults.sh BUILD: the interpreter as the device of OpenCL reports what is expected of each faulty program
# (faults.c, faults/faults.cl), in the words of faults/expected.txt; BLESS=1 rewrites that.  Then the
# options: JSON, exit status, the first error, limits.
set -u
build=$1
. tests/count.sh
export SPVFUSE_DEVICE=check SPVFUSE_CHECK_STEPS=100000 SPVFUSE_CACHE=1 SPVFUSE_CACHE_DIR="$work/cache"
source=tests/opencl/faults/faults.cl
run() {
    timeout 60 "$build/tests/opencl/faults" "$1" "$source"
}

: >"$work/found.txt"
for fault in $("$build/tests/opencl/faults"); do
    SPVFUSE_CHECK_LOG=$work/log run "$fault" 2>"$work/stderr"
    status=$?
    printf '== %s\n' "$fault" >>"$work/found.txt"
    cat "$work/log" >>"$work/found.txt"
    check "$fault: exit status $status, $(cat "$work/stderr")" [ "$status" = 0 ]
    case $fault in
    # Blocks are not in the SPIR-V that the fault of `dangling` would be seen in.
    right | dangling) check "$fault: a fault is reported" grep -q '^spvfuse check: 0 errors, 0 warnings, 0 notes' "$work/log" ;;
    *) check "$fault: nothing is reported" grep -q ' \[[a-z-]*\]$' "$work/log" ;;
    esac
done
[ -z "${BLESS-}" ] || cp "$work/found.txt" tests/opencl/faults/expected.txt
check "reports are not those of tests/opencl/faults/expected.txt: $(diff tests/opencl/faults/expected.txt "$work/found.txt")" \
    cmp -s tests/opencl/faults/expected.txt "$work/found.txt"

# The rows of the page are the cases, in their order.
shown=$(sed -n 's/^| `\([a-z_]*\)` .*/\1/p' docs/CHECK.md)
cases=$("$build/tests/opencl/faults" | grep -v '^right$')
check "docs/CHECK.md: its rows are not the cases of faults.c" [ "$shown" = "$cases" ]

status_of() {
    wanted=$1
    shift
    (env "$@" timeout 60 "$build/tests/opencl/faults" "$fault" "$source") >"$work/out" 2>&1
    status=$?
    check "$fault, $*: exit status $status, not $wanted: $(cat "$work/out")" [ "$status" = "$wanted" ]
}
fault=right
status_of 0 SPVFUSE_CHECK_EXIT=9
fault=no_value
status_of 9 SPVFUSE_CHECK_EXIT=9
status_of 1 SPVFUSE_CHECK_STOP=1
status_of 7 SPVFUSE_CHECK_STOP=1 SPVFUSE_CHECK_EXIT=7
fault=write_beyond
status_of 0 SPVFUSE_CHECK_FORMAT=json
check "JSON has the place" grep -q '"kind":"out-of-bounds","severity":"error".*"file":"program.cl","line":15,' "$work/out"
fault=leak
status_of 4 SPVFUSE_CHECK_EXIT=4
fault=endless
status_of 0 SPVFUSE_CHECK_STEPS=1000000000000 SPVFUSE_CHECK_SECONDS=1
check "the time limit is named: $(cat "$work/out")" grep -q 'its time is over' "$work/out"
# The clock is looked at also if no work-item is long.
fault=many_groups
status_of 0 SPVFUSE_CHECK_SECONDS=1
check "the time limit of many groups is named: $(cat "$work/out")" grep -q 'its time is over' "$work/out"
fault=no_value
SPVFUSE_CHECK_LOG=$work/log.json run no_value
while read -r line; do
    check "a file with the name of JSON: $line" sh -c 'echo "$1" | "$0"' "$build/tests/json" "$line"
done <"$work/log.json"

fault=no_local
status_of 0 SPVFUSE_CHECK_FORMAT=text
check "local memory without a size: $(cat "$work/out")" grep -q "argument 2 ('.*') of kernel 'local_argument' is local memory, of at least" "$work/out"

# The source goes with the binary, which programs keep and load again.
fault=read_beyond
status_of 3 FROM_BINARY=1 SPVFUSE_CHECK_EXIT=3
check "the source of a binary is quoted: $(cat "$work/out")" grep -q '^   10 |     y\[i\] = x\[i + 1\];$' "$work/out"
fault=in_function
status_of 0 SPVFUSE_CHECK_FORMAT=json
check "JSON has the names of the source: $(cat "$work/out")" sh -c '! grep -q "\"function\":\"[^\"]*[.][0-9]" "$0"' "$work/out"
fault=race_of_groups
status_of 0 SPVFUSE_CHECK_FORMAT=json
check "JSON has the name of the kernel: $(cat "$work/out")" grep -q '"function":"race_of_groups"' "$work/out"
# A column is a byte, and the caret is below its character.
sed 's|x\[i + 1\];|/* äöü */ x[i + 1];|' "$source" >"$work/words.cl"
timeout 60 "$build/tests/opencl/faults" read_beyond "$work/words.cl" >"$work/out" 2>&1
check "the caret is below a character: $(cat "$work/out")" grep -q '^      |                      ^$' "$work/out"

# The report comes after what the program does when it ends.
leave() {
    SPVFUSE_CHECK_LOG=$work/log OCL_ICD_VENDORS=$PWD/$build/spvfuse.icd timeout 60 "$work/leave" "$@"
}
if command -v g++ >/dev/null; then
    check "leave.cpp" g++ -o "$work/leave" tests/opencl/faults/leave.cpp -lOpenCL
    leave
    check "released at the end: $(cat "$work/log")" grep -q '^spvfuse check: 0 errors, 0 warnings, 0 notes' "$work/log"
    leave stay
    check "never released: $(cat "$work/log")" [ "$(grep -c '\[leak\]$' "$work/log")" = 2 ]
else
    echo "there is no g++: destructors are not tested"
fi
finish

# suites.sh: lists of suites and how they are run; read by all.sh and check.sh.
#
#   suite NAME COMMAND…   adds a line to the list
#   run_suites            runs what was added since the last call, on all processors; a line for each
#                         as it ends
#   sum_up                prints "N passed, M failed"; true when nothing failed

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/sums"
: >"$work/list"

# What is tested is compiled, whatever was compiled before.
export SPVFUSE_CACHE=0
# A broken assertion of the library ends the test.
export SPVF_ABORT=1
# Freed memory is used again after 32 MiB, so that most of it is in caches.
export ASAN_OPTIONS=quarantine_size_mb=32

suite() {
    suite_name=$1
    shift
    printf '%s\t%s\n' "$suite_name" "$*" >>"$work/list"
}

# The name of a test program: its path below tests/, with "-" for "/".
suite_of() {
    path=${1#tests/}
    echo "${path%.c}" | tr / -
}

# The first line comes at once.  On a terminal suite.sh shows below the lines how many suites there are to
# come, and how long that will take: for each of them as long as for one of those that have ended.
run_suites() {
    suites=$(grep -c . "$work/list")
    SUITES="$suites" SUITES_BEGUN=$(date +%s) SUITES_ON_TERMINAL=
    [ ! -t 1 ] || SUITES_ON_TERMINAL=1
    export work SUITES SUITES_BEGUN SUITES_ON_TERMINAL
    : >"$work/ended"
    echo "$suites suites, $(nproc) at a time"
    seq "$(grep -c . "$work/list")" | xargs -P "$(nproc)" -I NUMBER sh -c '
        line=$(sed -n NUMBERp "$work/list")
        name=${line%%	*}
        sh tests/suite.sh "$work" "$name" "${line#*	}"'
    : >"$work/list"
}

sum_up() {
    awk '{ p += $1; f += $2 } END { printf "%d passed, %d failed\n", p, f; exit f != 0 }' "$work/sums"
}

# The folders of golden files for machines: the rows of targets.def that have one, and the template.
machine_folders() {
    for machine in template $(sed -n 's/^MACHINE(\(.*\))$/\1/p' codegen/targets.def); do
        [ ! -d "tests/codegen/$machine" ] || echo "tests/codegen/$machine"
    done
}

# The names of the levels that this machine has, the lowest first; empty when it cannot run native code.
machine_levels() {
    "$1/tests/run" --levels
}

# Each level with each number of lanes, as options of device cpu.
lane_ways() {
    for level in $1; do
        for lanes in 1 2 4 8 16 32 64; do echo "$level,simd=$lanes"; done
    done
}

# The same as oracles of corpus_run.
lane_oracles() {
    lane_ways "$1" | sed 's/^/--oracle cpu:/' | tr '\n' ' '
}

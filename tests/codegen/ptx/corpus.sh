#!/bin/sh
# corpus.sh BUILD [all]: kernels of the corpus as PTX, for the oldest processor that NVIDIA's ptxas
# knows, sm_80, sm_90, and its newest.  Modules take turns, so that this is a matter of seconds; with
# `all` (`ninja test-ptx`, minutes) each is written for all four, and so are those of other producers
# and of the benchmarks; those that have each operator of each type take turns.  Kernels are left out
# for three reasons only.  Where ptxas is found, it assembles all of it without a warning.
#
# What it says about kernels is compared with the last state, resources.txt, if that is from the same
# ptxas: no kernel has more spills or barriers, none has more than 1/8 or 4 registers more, and all of
# them together have at most 2 % more.  BLESS=1 writes that file.
#
# SPVFUSE names another command that writes the code: `ninja test-ptx-asan`, the one with sanitizers.
set -u
build=$1
spvfuse=${SPVFUSE:-$build/spvfuse}
# shellcheck source=tests/count.sh
. tests/count.sh
# shellcheck source=tests/codegen/ptx/ptxas.sh
. tests/codegen/ptx/ptxas.sh
[ -n "$ptxas" ] || echo "ptxas is not there: nothing is assembled"
recorded=tests/codegen/ptx/resources.txt
every=${2:-}${BLESS:-}
: "${processors:=sm_75 sm_80 sm_90 sm_120}"

only_known_reasons() {
    ! grep -E 'is left out|error' "$work/err" |
        grep -vE 'is an image or a sampler|printf has no form in PTX|requires sub-groups of (1|4|8|16|64),|no kernel is left'
}

# write MODULE PROCESSOR FILE
write() {
    "$spvfuse" compile "$1" -t "ptx:$2" -o "$3" 2>"$work/err" || rm -f "$3"
    only_known_reasons
}

# The processors of the module whose turn it is.
processors_of() {
    [ -z "$every" ] || { echo "$processors"; return; }
    first=$(($1 % 4))
    set -- $processors
    shift $first
    echo "$1"
}

# write_folder FOLDER: its modules, as $work/FOLDER/PROCESSOR/MODULE.ptx.
write_folder() {
    turn=0
    for sm in $processors; do mkdir -p "$work/$1/$sm"; done
    for module in "$build/$1"/*.spv; do
        for sm in $(processors_of $turn); do
            text=$work/$1/$sm/$(basename "$module" .spv).ptx
            check "$module for $sm" write "$module" "$sm" "$text"
        done
        turn=$((turn + 1))
    done
}

is_said_of_kernels='^ptxas info \|^    [0-9]* bytes'

# assemble_folder FOLDER PROCESSOR: all modules as one, without a warning.
assemble_folder() {
    set -- "$work/$1/$2" "$2"
    awk -v head="$1.head" -v body="$1.body" -f tests/codegen/ptx/merge.awk "$1"/*.ptx
    cat "$1.head" "$1.body" >"$1.ptx"
    "$ptxas" -v -arch="$2" -o /dev/null "$1.ptx" >"$1.said" 2>&1 &&
        ! grep -qv "$is_said_of_kernels" "$1.said" && return 0
    grep -v "$is_said_of_kernels" "$1.said" | head -n 3
    return 1
}

write_and_assemble() {
    write_folder "$1"
    [ -n "$ptxas" ] || return 0
    for sm in $processors; do check "$1 for $sm" assemble_folder "$1" "$sm"; done
}

# ------------------------------------------------------------------------------------- resources

version_line() {
    "$ptxas" --version |
        sed -n "s/.*release .*, \(V[0-9.]*\)/ptxas \1: registers\/bytes of spills\/barriers for $processors/p"
}

# What ptxas said of the corpus: a line for each kernel, "-" where it has not been assembled.
table() {
    for sm in $processors; do
        awk -v sm="$sm" '
            /Compiling entry function/ { split($0, part, "\047"); kernel = part[2] }
            /bytes spill stores/ { for (n = 1; n <= NF; n++) if ($n == "spill") spills = $(n - 2) }
            /Used [0-9]+ registers/ {
                barriers = 0
                for (n = 1; n <= NF; n++) if ($n ~ /^barriers/) barriers = $(n - 1)
                print kernel, sm, $5 "/" spills "/" barriers
            }' "$work/corpus/clang15-O2/$sm.said"
    done | awk -v processors="$processors" '
        { cell[$1, $2] = $3; kernel[$1] = 1 }
        END {
            n = split(processors, sm, " ")
            for (k in kernel) {
                line = k
                for (p = 1; p <= n; p++) line = line " " ((k, sm[p]) in cell ? cell[k, sm[p]] : "-")
                print line
            }
        }' | LC_ALL=C sort
}

# compare RECORDED NOW: prints what is worse; true if nothing is.
compare() {
    awk -v every="$every" '
        FNR == 1 { file++ }
        file == 1 { if (FNR > 1) was[$1] = $0; next }
        !($1 in was) { print $1 " is not recorded"; bad = 1; next }
        {
            split(was[$1], old, " ")
            for (n = 2; n <= NF; n++) if ($n != "-") {
                split($n, now, "/"); split(old[n], before, "/"); cells++
                registers += now[1]; registers_before += before[1]
                most = before[1] + (before[1] < 32 ? 4 : before[1] / 8)
                if (now[1] > most || now[2] > before[2] || now[3] > before[3]) {
                    print $1 ": " $n " instead of " old[n]; bad = 1
                }
            }
            delete was[$1]
        }
        END {
            if (every != "") for (k in was) { print k " is gone"; bad = 1 }
            if (!cells || registers > registers_before * 1.02) bad = 1
            print registers + 0 " registers instead of " registers_before + 0
            exit bad
        }' "$1" "$2"
}

check_resources() {
    table >"$work/table"
    [ -z "${BLESS:-}" ] || { version_line; cat "$work/table"; } >"$recorded"
    [ "$(version_line)" = "$(head -n 1 "$recorded")" ] || return 0
    check "resources of kernels" compare "$recorded" "$work/table"
    sed 's/ [0-9-]*\/[0-9]*\/[0-9]*/ 0\/0\/0/' "$recorded" >"$work/less"
    check "resources are compared" eval '! compare "$work/less" "$work/table"'
}

write_and_assemble corpus/clang15-O2
if [ "${2:-}" = all ]; then
    for folder in corpus/clang15-O0 corpus/clang22-O2 bench bench/simd; do
        write_and_assemble $folder
    done
fi
[ -z "$ptxas" ] || check_resources
if [ "${2:-}" = all ]; then
    every=
    write_and_assemble operators/clang15-O0
fi
finish

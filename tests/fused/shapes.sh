#!/bin/sh
# shapes.sh BUILD: fused kernels have the shape that shapes.txt says, from every producer.
set -u
build=$1
spvfuse=$PWD/$build/spvfuse
# shellcheck source=tests/count.sh
. tests/count.sh

# Counts of the one kernel on standard input.
count() {
    awk '
        / = load /                         { loads++; next }
        /^  store /                        { stores++; next }
        / = alloca / || /^@[^ ]*: local /  { variables++; next }
        /^  barrier/                       { barriers++; next }
        / = (global|local|group)_id / || / = global_linear_id/ || / = ptradd / { next }
        / = (shl|sext|zext|trunc) /        { next }
        /^  (%[^ ]*: [^ ]* = )?[a-z]/ && !/^  (ret|jmp|br) ?/ { arithmetic++ }
        END { print loads + 0, stores + 0, variables + 0, barriers + 0, arithmetic + 0 }'
}

for producer in clang15-O0 clang15-O2 clang22-O2; do
    cp "$build/corpus/$producer/"*.spv tests/corpus/*.plan "$work"
    while read -r plan want; do
        case $plan in '' | '#'*) continue ;; esac
        got=$("$spvfuse" fuse -t ir "$work/$plan.plan" 2>"$work/err" | count)
        if [ "$got" = "$(echo $want)" ]; then
            passed
        else
            failed "$plan from $producer: $got, not $want"
            cat "$work/err"
        fi
    done <tests/fused/shapes.txt
done
finish

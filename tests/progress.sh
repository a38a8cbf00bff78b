#!/bin/sh
# progress.sh BUILD: on a terminal, what takes longer than a second says how much is left; elsewhere it does not,
# and lists of suites begin with a line at once.
set -u
build=$1
# shellcheck source=tests/count.sh
. tests/count.sh
cat >"$work/list.sh" <<'SH'
. tests/suites.sh
suite short 'echo "1 passed, 0 failed"'
suite second 'sleep 1.2; echo "1 passed, 0 failed"'
suite long 'sleep 2.4; echo "1 passed, 0 failed"'
run_suites
sum_up
SH
sh "$work/list.sh" >"$work/plain" 2>&1 &
sleep 0.9
check "the first line comes at once: $(cat "$work/plain")" grep -q '^3 suites, [0-9]* at a time$' "$work/plain"
wait
check "the sum: $(cat "$work/plain")" grep -q '^3 passed, 0 failed$' "$work/plain"
check "a line that is written over, in a file" sh -c "! grep -E ' left|\\[K' '$work/plain'"
if command -v script >/dev/null; then
    script -qec "sh $work/list.sh" "$work/terminal" >/dev/null 2>&1 </dev/null
    check "suites that are left: $(cat "$work/terminal")" grep -q '2 of 3 suites, [0-9]* s left' "$work/terminal"
    script -qec "timeout 4 $build/tests/fuzz/text -n 9000000 -s 1 $build/seeds/text" "$work/terminal" >/dev/null 2>&1 </dev/null
    check "mutations that are left" grep -aqE 'of 9000000 mutations, [0-9]+ s left' "$work/terminal"
    script -qec "timeout 8 $build/tests/regions_run tests/corpus $build/corpus" "$work/terminal" >/dev/null 2>&1 </dev/null
    check "plans that are left" grep -aqE 'of [0-9]+ plans, [0-9]+ s left' "$work/terminal"
    program=$build/tests/bench/first # which takes several seconds
    if [ -x "$program" ]; then
        script -qec "timeout 6 $program $build/bench/first.spv" "$work/terminal" >/dev/null 2>&1 </dev/null
        check "$program says what is left: $(cat "$work/terminal")" grep -aqE '[0-9]+ of [0-9]+ [a-z ]+, [0-9]+ s left' "$work/terminal"
    else
        echo "$program is not built; it is not tested"
    fi
    seq 1 6 >"$work/list"
    cat >"$work/left.sh" <<'SH'
work=$1
. tests/conformance/compare.sh
for n in 1 2 3 4 5 6; do sleep 0.5; echo "$n"; done | show_left >"$work/through"
SH
    script -qec "sh $work/left.sh $work" "$work/terminal" >/dev/null 2>&1 </dev/null
    check "tests that are left: $(cat "$work/terminal")" grep -aqE 'of 6 tests, [0-9]+ s left' "$work/terminal"
    check "all tests come through" cmp -s "$work/through" "$work/list"
    sh "$work/left.sh" "$work" 2>"$work/plain"
    check "progress of tests in a file" [ ! -s "$work/plain" ]
else
    echo "script is missing; terminals are not tested"
fi
timeout 3 "$build/tests/fuzz/text" -n 9000000 -s 1 "$build/seeds/text" >"$work/plain" 2>&1
check "progress in a file: $(cat "$work/plain")" [ ! -s "$work/plain" ]
finish

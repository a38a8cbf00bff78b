#!/bin/sh
# suite.sh WORK NAME COMMAND: runs a suite, a line for sh, and says how it went when it ends, and how
# many seconds it has taken, and of processors.  What it prints goes to WORK/NAME.out, and is shown if
# it fails; its numbers go to WORK/sums.
work=$1
name=$2
out=$work/$name.out
start=$(date +%s)
sh -c "$3" >"$out" 2>&1
rc=$?
seconds=$(($(date +%s) - start))
times >"$work/$name.times"
# Minutes and seconds of children: "0m1.5s 0m0.1s".
busy=$(sed -n '2{s/[ms]/ /g;p}' "$work/$name.times" | awk '{ print 60 * ($1 + $3) + $2 + $4 }')
# The last line with a sum: Criterion's, or "N passed, M failed".
counts=$(sed -n \
    -e 's/.*Tested: [^0-9]*\([0-9]*\).*Passing: [^0-9]*\([0-9]*\).*Failing: [^0-9]*\([0-9]*\).*/\2 \3/p' \
    -e 's/\(^\|.* \)\([0-9]*\) passed, \([0-9]*\) failed.*/\2 \3/p' "$out" | tail -n 1)
passed=${counts% *} failed=${counts#* }
: "${passed:=0}" "${failed:=0}"
# A program that ends badly without counting a failure has failed once.
[ "$rc" != 0 ] && [ "$failed" = 0 ] && failed=1
[ "$rc" = 0 ] && [ "$passed" = 0 ] && { failed=1; echo "no test was run" >>"$out"; }
echo "$passed $failed" >>"$work/sums"
[ "$failed" = 0 ] || tail -n 40 "$out" >&2
[ -z "${SUITES_ON_TERMINAL-}" ] || printf '\r\033[K'
printf '%-48s %6d passed %4d failed %5d s %7.1f core s\n' "$name" "$passed" "$failed" "$seconds" "$busy"
# How many have ended, on a terminal, after the first second.
echo "$name" >>"$work/ended"
ended=$(grep -c . "$work/ended")
seconds=$(($(date +%s) - ${SUITES_BEGUN:-0}))
[ -z "${SUITES_ON_TERMINAL-}" ] || [ "$ended" = "$SUITES" ] || [ "$seconds" -lt 1 ] ||
    printf '%s of %s suites, %s s left ' "$ended" "$SUITES" "$((seconds * (SUITES - ended) / ended))"

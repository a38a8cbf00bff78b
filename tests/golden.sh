#!/bin/sh
# golden.sh: every pass of passes/passes.def has at least ten golden cases of its own.
#
# A case is a function with a body, followed by what becomes of it or by what it computes, in
# tests/passes/*/PASS.ir or tests/passes/*/PASS_*.ir.
set -u
# shellcheck source=tests/count.sh
. tests/count.sh

least=10

# cases FILE…: the number of cases in all of them.
cases() {
    awk '/^(func|kernel) @.*\{$/ { open = 1 }
         /^;\||^; eval:/ { n += open; open = 0 }
         END { print n + 0 }' /dev/null "$@"
}

for pass in $(sed -n 's/^\(PASS\|PRINTER\)(\([a-z0-9_]*\),.*/\2/p' passes/passes.def); do
    # shellcheck disable=SC2046
    n=$(cases $(find tests/passes -name "$pass.ir" -o -name "${pass}_*.ir"))
    check "pass $pass has $n golden cases, not $least" [ "$n" -ge "$least" ]
done
finish

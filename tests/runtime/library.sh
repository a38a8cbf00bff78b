#!/bin/sh
# library.sh BUILD: the library as others use it: closed while its threads are there, and what it
# exports.
set -u
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# check WHAT COMMAND…: succeeds, quietly.
check() {
    what=$1
    shift
    if "$@" >"$work/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$what:"
        cat "$work/out"
    fi
}

unload=$build/tests/runtime/unload
check "opened and closed" timeout 60 "$unload" "$build/libspvfuse.so"
if command -v valgrind >/dev/null 2>&1; then
    check "nothing is lost" timeout 300 valgrind -q --error-exitcode=1 --leak-check=full \
        --errors-for-leak-kinds=definite,indirect,possible "$unload" "$build/libspvfuse.so"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

# shellcheck shell=sh
# count.sh — sourced by suites that are shell scripts: a folder of their own, and counts.
#
# $work is an empty folder, which is removed when the script ends.  A suite calls `check` or `passed`
# and `failed` for each test, and `finish` at its end.
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
passes=0 failures=0

passed() { passes=$((passes + 1)); }

# failed WHY…
failed() {
    failures=$((failures + 1))
    echo "FAIL $*"
}

# check NAME COMMAND…: a test that passes when the command succeeds.
check() {
    name=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        passed
    else
        failed "$name: $(head -n 20 "$work/said")"
    fi
}

# Prints the sum; fails when a test has failed, or there was none.
finish() {
    echo "$passes passed, $failures failed"
    [ "$failures" = 0 ] && [ "$passes" != 0 ]
}

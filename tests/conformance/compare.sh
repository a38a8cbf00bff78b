# compare.sh — to be sourced: tests of others, on our implementation and on PoCL of this machine.
#
# Set before: `build`, its folder; `work`, an empty folder; `known`, the file that says what fails
# with us alone, and why.

# need PACKAGE…: installs what is missing.
need() {
    missing=
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' ||
            missing="$missing $package"
    done
    [ -z "$missing" ] || {
        echo "installing$missing"
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing \
            >"$work/apt" 2>&1 || { tail -n 3 "$work/apt" >&2; exit 1; }
    }
}

# on VENDORS COMMAND…: with the implementation that the file says.
on() {
    vendors=$1
    shift
    # PoCL does not make its folder well when several processes begin at once.
    mkdir -p "$work/cache"
    OCL_ICD_VENDORS=$vendors POCL_CACHE_DIR=$work/cache "$@"
}

# table TITLE NAME: a line of the table, from the results of NAME.
table() {
    awk -v title="$1" -v name="$2" '{ p += $2; f += $3; s += $4 }
        END { printf "%-10s %-8s %7d %7d %7d %7d\n", title, name, p + f + s, p, f, s }' "$work/$2"
}

# How many lines of the list have come through, on a terminal, after the first second; and how long the
# others will take if each takes as long.
show_left() {
    [ -t 2 ] || exec cat
    awk -v all="$(grep -c . "$work/list")" '
        BEGIN { srand(); begun = srand() }
        { print; fflush(); srand(); now = srand() }
        now > begun { printf "\r\033[K%d of %d tests, %d s left ", NR, all,
            (now - begun) * (all - NR) / NR >"/dev/stderr" }
        END { if (now > begun) printf "\r\033[K" >"/dev/stderr" }'
}

# compare TITLE COMMAND…: the tests that $work/list names, one in a line.  The command is given such
# a name and prints "NAME PASSED FAILED SKIPPED".
compare() {
    title=$1
    shift
    for name in spvfuse pocl; do
        vendors=pocl.icd
        [ "$name" = pocl ] || vendors=$build/spvfuse.icd
        on "$vendors" xargs -r -P "$(nproc)" -n 1 "$@" <"$work/list" | show_left |
            sort >"$work/$name"
        table "$title" "$name"
    done
    join "$work/spvfuse" "$work/pocl" | awk '$3 > $6 { print $1 }' >>"$work/alone"
}

header() {
    : >"$work/alone"
    printf '%-10s %-8s %7s %7s %7s %7s\n' '' '' total pass fail skip
}

# Names what fails with us alone, and fails when there is something that `known` has not.
explain() {
    new=0
    while read -r name; do
        why=$(sed -n "s|^$name ||p" "$known")
        [ -n "$why" ] || new=$((new + 1))
        echo "fails with us alone: $name${why:+ ($why)}"
    done <"$work/alone"
    [ "$new" = 0 ]
}

#!/bin/sh
# commands.sh BUILD: the commands of README and docs/ run as they are copied.
#
# Blocks of `sh` and `console` run in order, each page in a folder of its own in which the sources and
# the build are linked.  In a block of `console`, lines after "$ " are commands, the others what they
# print, in this order; "…" is anything.  A block after "<!-- file: NAME -->" is written to this file.
# A block after "<!-- not run: WHY -->" does not run, and is listed; so is one that another script
# tries.  Blocks without a language hold no commands.  docs/TUTORIAL.md is run by tutorial.sh.
set -u
build=$(cd "$1" && pwd)
# shellcheck source=tests/count.sh
. tests/count.sh
export SPVFUSE_CACHE_DIR="$work/cache" XDG_CACHE_HOME="$work/cache"

# N.sh, N.console, N.not or N.plain, whose first line is where it is, and N.file, whose first line is its name.
cat >"$work/blocks.awk" <<'AWK'
/^<!-- not run: / { why = $0; sub(/^<!-- not run: /, "", why); sub(/ -->$/, "", why); next }
/^<!-- .*, tried by [a-z\/]*\.sh -->$/ { why = $(NF - 1) " tries it"; next }
/^<!-- file: / { file = $3; next }
/^```/ && on { close(out); on = 0; why = file = ""; next }
/^```/ {
    on = 1
    kind = substr($0, 4)
    n++
    if (why != "") { kind = "not"; head = page ":" FNR ": " why }
    else if (file != "") { kind = "file"; head = file }
    else if (kind == "") { kind = "plain"; head = page ":" FNR }
    else head = "# " page ":" FNR
    out = sprintf("%s/%03d.%s", to, n, kind)
    print head > out
    next
}
on { print > out }
NF { if (!on && $0 !~ /^<!--/) why = file = "" }
AWK

# What is printed is in the file `output`; prints the first line of $1 that is not there in order.
missing() {
    sed '1d; /^\$ /d; /^…$/d' "$1" | awk -v output="$2" '
        function matches(line, n, i, parts) {
            n = split($0, parts, "…")
            for (i = 1; i <= n; i++) {
                if (!index(line, parts[i])) return 0
                line = substr(line, index(line, parts[i]) + length(parts[i]))
            }
            return 1
        }
        {
            found = 0
            while (!found && (getline line < output) > 0) found = matches(line)
            if (!found) { print; exit }
        }'
}

run_console() {
    sed -n 's/^\$ //p' "$1" >"$work/commands"
    check "$(head -n 1 "$1")" timeout 60 sh -c 'cd "$1" && sh -e "$2" 2>&1' - "$tree" "$work/commands"
    cp "$work/said" "$work/output"
    lost=$(missing "$1" "$work/output")
    check "$(head -n 1 "$1"): not printed: $lost" [ -z "$lost" ]
}

run_block() {
    case $1 in
    *.sh) check "$(cat "$1")" timeout 60 sh -c 'cd "$1" && sh -e "$2"' - "$tree" "$1" ;;
    *.console) run_console "$1" ;;
    *.file) sed 1d "$1" >"$tree/$(head -n 1 "$1")" ;;
    *.not) echo "not run: $(head -n 1 "$1")" ;;
    *.plain) check "$(head -n 1 "$1"): commands without a language" sh -c \
        '! sed 1d "$1" | grep -qE "^(\\$ |build/[^ :]+( |$)|[A-Z_]+=|ninja( |$)|sh |gcc |g\+\+ |clang|cp |cd |mpirun |python3 |spvfuse [a-z]+ [^ ]*\.)"' - "$1" ;;
    esac
}

number=0
for page in README.md docs/*.md; do
    [ "$page" != docs/TUTORIAL.md ] || continue
    number=$((number + 1))
    blocks=$work/blocks$number tree=$work/tree$number
    mkdir "$blocks" "$tree"
    for entry in *; do [ "$entry" = build ] || ln -s "$PWD/$entry" "$tree/$entry"; done
    ln -s "$build" "$tree/build"
    awk -v page="$page" -v to="$blocks" -f "$work/blocks.awk" "$page"
    for block in "$blocks"/*; do
        [ ! -e "$block" ] || run_block "$block"
    done
done
finish

#!/bin/sh
# tutorial.sh BUILD: docs/TUTORIAL.md does what it says.  Its blocks of sh run one after another, as
# they are copied, in a folder in which the sources and the build are linked.  A block without a
# language after a block of sh is part of what that prints, white space aside.  A block after
# "<!-- from: FILE -->" is part of that file.  Every example is compiled or read by some block, and each
# program, of 30 to 80 lines, is quoted.
set -u
build=$(cd "$1" && pwd)
page=docs/TUTORIAL.md
# shellcheck source=tests/count.sh
. tests/count.sh

# blocks/N.sh, N.txt and N.from, which begins with the name of the file.
mkdir "$work/blocks" "$work/tree"
awk -v to="$work/blocks/" '
    /^<!-- from: / { file = $3; next }
    /^```/ && on { close(out); on = 0; next }
    /^```sh$/ { n++; kind = ".sh" }
    /^```/ && !/^```sh$/ { kind = file == "" ? ".txt" : ".from" }
    /^```/ {
        on = 1
        if (kind == ".from") n++
        out = sprintf("%s%02d%s", to, n, kind)
        if (kind == ".from") print file > out
        file = ""
        next
    }
    on { print > out }' "$page"

for entry in *; do
    [ "$entry" = build ] || ln -s "$PWD/$entry" "$work/tree/$entry"
done
ln -s "$build" "$work/tree/build"
export SPVFUSE_CACHE_DIR="$work/cache" XDG_CACHE_HOME="$work/cache"
# For root.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# contains TEXT PART: white space aside.
contains() {
    case $(tr -d '[:space:]' <"$1") in *"$(tr -d '[:space:]' <"$2")"*) [ -s "$2" ] ;; *) false ;; esac
}

# shellcheck disable=SC2016
for block in "$work"/blocks/*.sh; do
    if grep -q mpicc "$block" && ! command -v mpicc >/dev/null; then
        echo "not run: there is no mpicc: $(cat "$block")"
        continue
    fi
    check "$page: $(cat "$block")" timeout 60 sh -c 'cd "$1" && sh -e "$2"' - "$work/tree" "$block"
    cp "$work/said" "$work/output"
    shown=${block%.sh}.txt
    [ ! -e "$shown" ] || check "$page: not what this prints: $(cat "$block")
$(cat "$work/output")" contains "$work/output" "$shown"
done

# A quotation is whole lines of its file.
for block in "$work"/blocks/*.from; do
    file=$(head -n 1 "$block")
    sed 1d "$block" >"$work/quoted"
    check "$page: not in $file: $(cat "$work/quoted")" contains "docs/$file" "$work/quoted"
done

for example in docs/examples/*; do
    check "$page: nothing runs $example" grep -qF "$example" "$page"
    check "$example: more than 80 lines" [ "$(wc -l <"$example")" -le 80 ]
    case $example in
    *.c | *.cpp | *.py)
        check "$page: no part of $example is shown" grep -qF -- "<!-- from: ${example#docs/} -->" "$page"
        check "$example: less than 30 lines" [ "$(wc -l <"$example")" -ge 30 ]
        ;;
    esac
done
finish

#!/bin/sh
# corpus.sh BUILD: what vectorization makes of the loops over work-items of the corpus, at x86_64:v4:
# for each module how many become loops over vectors, and how many do not, with the reason; and how
# many innermost loops do, whose iterations are lanes.  The
# table is corpus.txt beside this file: a change that makes kernels scalar, or vectors, changes it.
# BLESS=1 rewrites it.
set -u
build=$1
here=tests/passes/vectorize
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for module in "$build"/corpus/clang15-O2/*.spv; do
    name=$(basename "$module" .spv)
    "$build/spvfuse" compile -t x86_64:v4 -v "$module" -o "$work/o.o" >"$work/said" 2>&1
    sed -nE -e 's/.*: a loop runs one work-item at a time: ([^;]*).*/\1/p' \
        -e 's/.*: a loop runs [0-9]+ (components of )?work-items at a time.*/vectors/p' \
        -e 's/.*: a loop runs [0-9]+ iterations at a time.*/innermost/p' "$work/said" |
        sort | uniq -c | awk -v name="$name" '
            { n = $1; sub(/^ *[0-9]+ /, "") }
            $0 == "vectors" { vectors = n; next }
            $0 == "innermost" { innermost = ", " n " innermost"; next }
            { reasons = reasons "; " n " not: " $0 }
            END { if (NR) print name ": " vectors + 0 " vectors" innermost reasons }'
done >"$work/table"

[ -z "${BLESS:-}" ] || cp "$work/table" "$here/corpus.txt"
changed=$(diff "$here/corpus.txt" "$work/table" | grep -c '^[<>]')
if [ "$changed" != 0 ]; then
    diff "$here/corpus.txt" "$work/table"
    echo "If this is right: BLESS=1 sh $here/corpus.sh $build"
fi
echo "$(grep -c . "$work/table") passed, $changed failed"
[ "$changed" = 0 ]

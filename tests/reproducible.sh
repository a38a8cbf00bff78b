#!/bin/sh
# reproducible.sh: builds the sources in two folders and compares what comes out, byte by byte.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results="spvfuse libspvfuse.a libspvfuse.so.0.1 libspvfuse_icd.so"
for folder in "$work/one" "$work/another/place"; do
    mkdir -p "$folder"
    git ls-files -z | xargs -0 cp --parents -t "$folder"
    (cd "$folder" && CCACHE_DISABLE=1 ninja >"$work/log" 2>&1) || { cat "$work/log"; exit 1; }
done
for file in $results; do
    cmp "$work/one/build/$file" "$work/another/place/build/$file"
    echo "$file: the same"
done

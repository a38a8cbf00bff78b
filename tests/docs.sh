#!/bin/sh
# docs.sh BUILD: the generated parts of docs/ are current, and no link between the pages is broken.
set -u
status=0
"$1/docgen" --check docs/IR.md || status=1
for page in README.md docs/*.md; do
    folder=$(dirname "$page")
    for link in $(grep -oE '\]\([^)#:]+\)' "$page" | sed 's/^](//; s/)$//'); do
        [ -e "$folder/$link" ] || { echo "$page: $link does not exist"; status=1; }
    done
done
[ $status = 0 ] && echo "2 passed, 0 failed"
exit $status

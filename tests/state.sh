#!/bin/sh
# state.sh BUILD: the writable objects of the library against the table of docs/ARCHITECTURE.md.
#
# Constants with addresses in them lie in sections that are written while loading only (.data.rel.ro),
# and are left out; so is the command, which is not the library.
set -u
build=$1
passed=0
failed=0

check() {
    if [ -n "$2" ]; then
        failed=$((failed + 1))
        printf '%s:\n%s\n' "$1" "$2"
    else
        passed=$((passed + 1))
    fi
}

writable=$(for source in $(git ls-files 'ir/*.c' 'frontend/*.c' 'passes/*.c' 'codegen/*.c' 'runtime/*.c'); do
    object=$build/${source%.c}.o
    case $source in runtime/cli/*) continue ;; esac
    [ -f "$object" ] && objdump -t "$object" | awk -v source="$source" '
        (/ O \.(bss|data)/ || (/ \.t(bss|data)/ && !/ d /)) && !/\.data\.rel\.ro/ { print source }'
done | sort -u)
told=$(sed -n '/^## State of the process/,/^## Decisions/s/^| `\([a-z_/0-9]*\.c\)` .*/\1/p' docs/ARCHITECTURE.md | sort -u)

for source in $writable; do
    check "docs/ARCHITECTURE.md does not tell of state in" "$(echo "$told" | grep -qx "$source" || echo "$source")"
done
for source in $told; do
    check "docs/ARCHITECTURE.md tells of state that is not there" \
        "$(echo "$writable" | grep -qx "$source" || echo "$source")"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]

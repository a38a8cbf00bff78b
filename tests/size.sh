#!/bin/sh
# size.sh: how the code is cut.  Asserted: no function above 60 lines, no file above 500, no line
# above 100 columns, the median of functions from 6 to 12 lines, and no more functions with more
# than five parameters in a folder than the list below allows: it only ever gets shorter.
#
# A function begins at its name, with the line that starts in column one, and ends at a `}` there;
# all its lines count, as tools such as lizard count them.  Parameters are not counted of functions
# that are called from outside, through OpenCL or spvfuse.h: they cannot change.
set -u
files=$(git ls-files '*.c' '*.re' | grep -v '^tests/')
passed=0
failed=0

# FOLDER:N, for folders that have functions with more than five parameters.
allowed=''

# is WHAT OUTPUT: passed when there is none.
is() {
    if [ -z "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s:\n%s\n' "$1" "$2"
    fi
}

# A line for each function: lines, parameters, file, name.
# shellcheck disable=SC2086
functions=$(awk '
    function parameters(text, n, depth, k, c) {
        sub(/^[^(]*\(/, "", text)
        if (text ~ /^(void)?\) \{/) return 0
        n = depth = 1
        while (depth && (c = substr(text, ++k, 1)) != "")
            if (c == "(") depth++
            else if (c == ")") depth--
            else if (c == "," && depth == 1) n++
        return n
    }
    function put(lines) {
        name = head
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        print lines, head ~ /CL_API_CALL/ || name ~ /^spvf_/ ? 0 : parameters(head), FILENAME, name
    }
    FNR == 1 { inside = 0; head = "" }
    inside && /^\}/ { put(FNR - from + 1); inside = 0; head = ""; next }
    inside { next }
    /^[a-zA-Z]/ { head = ""; from = FNR }
    /^[a-zA-Z].*\(/ || head != "" { head = head $0 " " }
    /;$/ { head = "" }
    head != "" && /\) \{$/ { inside = 1 }
    head != "" && /\) \{.*\}$/ { put(1); head = "" }' $files)

median=$(echo "$functions" | cut -d ' ' -f 1 | sort -n | awk '{ n[NR] = $1 } END { print n[int((NR + 1) / 2)] }')
is "the median function has $median lines, not 6 to 12" \
    "$([ "$median" -ge 6 ] && [ "$median" -le 12 ] || echo "$median")"
is "functions above 60 lines" "$(echo "$functions" | awk '$1 > 60')"
# shellcheck disable=SC2086
is "files above 500 lines" "$(wc -l $files | awk '$2 != "total" && $1 > 500')"
# shellcheck disable=SC2086
is "lines above 100 columns" "$(LC_ALL=C.UTF-8 grep -nE '^.{101,}' $files)"

for folder in $(echo "$functions" | awk '{ sub("/[^/]*$", "", $3); print $3 }' | sort -u); do
    most=0
    for entry in $allowed; do
        [ "${entry%:*}" = "$folder" ] && most=${entry#*:}
    done
    many=$(echo "$functions" | awk -v folder="$folder" '
        { of = $3; sub("/[^/]*$", "", of) }
        of == folder && $2 > 5 { print $3 ": " $4 " has " $2 " parameters" }')
    n=$(echo "$many" | grep -c .)
    [ "$n" -le "$most" ] && many=
    is "$folder: $n functions with more than five parameters, where $most are allowed" "$many"
done
echo "$(echo "$functions" | grep -c .) functions, median $median lines: $passed passed, $failed failed"
[ "$failed" = 0 ]

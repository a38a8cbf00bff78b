#!/bin/sh
# size.sh: how the code is cut.  Asserted: no function above 60 lines, no file above 500, no line
# above 100 columns, the median of functions from 6 to 12 lines, no function with more than five
# parameters, and no more short functions that are used once than there are: static ones below four
# lines.  These are left where they name a concept of the field or make the caller readable, so a new
# one needs a reason to raise the number.
#
# A function begins at its name, with the line that starts in column one, and ends at a `}` there;
# all its lines count, as tools such as lizard count them.  Parameters are not counted of functions
# that are called from outside, through OpenCL or spvfuse.h: they cannot change.
set -u
files=$(git ls-files '*.c' '*.re' | grep -v '^tests/')
passed=0
failed=0

most_used_once=104

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

is "functions with more than five parameters" \
    "$(echo "$functions" | awk '$2 > 5 { print $3 ": " $4 " has " $2 " parameters" }')"

# FILE NAME of static functions below four lines that are called once, and not used otherwise; comments
# do not count.
used_once=$(for file in $(echo "$functions" | awk '$1 < 4 { print $3 }' | sort -u); do
    echo "$functions" | awk -v file="$file" '
        FILENAME == "-" { if ($3 == file && $1 < 4) short[$4] = 1; next }
        { sub(/\/\*.*/, ""); if (/^ \*/) next }
        /^static/ { for (name in short) if (index($0, name "(")) is_static[name] = 1 }
        { gsub(/\(/, "( "); gsub(/[^a-zA-Z0-9_(]+/, " "); n = split($0, word, " ")
          for (k = 1; k <= n; k++) {
              call = sub(/\($/, "", word[k])
              if (word[k] in short) { used[word[k]]++; calls[word[k]] += call }
          } }
        END { for (name in short)
                  if (is_static[name] && used[name] == 2 && calls[name] == 2) print file, name }' - "$file"
done)
many=$(echo "$used_once" | grep -c .)
is "$many static functions below four lines are used once, where $most_used_once are allowed" \
    "$([ "$many" -le "$most_used_once" ] || echo "$used_once")"

echo "$(echo "$functions" | grep -c .) functions, median $median lines: $passed passed, $failed failed"
[ "$failed" = 0 ]

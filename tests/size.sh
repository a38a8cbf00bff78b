#!/bin/sh
# size.sh: how the code is cut.  Median and long functions, long files; a mirror, not a judge.
# A function begins at a line that starts in column one and ends in `{`, and ends at a `}` there.
set -u
files=$(git ls-files '*.c' '*.re' | grep -v '^tests/')
# shellcheck disable=SC2086
awk '
    FNR == 1 { inside = 0 }
    !inside && /^[a-zA-Z].*\) \{$/ { inside = 1; from = FNR; name = FILENAME ": " $0; next }
    !inside && /^[a-zA-Z].*\) \{.*\}$/ { n[++count] = 1 }
    inside && /^\}/ {
        inside = 0; length_of = FNR - from - 1; n[++count] = length_of
        if (length_of > 60) { long++; printf "  %4d lines  %s\n", length_of, name }
    }
    END {
        for (i = 2; i <= count; i++) {
            v = n[i]
            for (j = i - 1; j > 0 && n[j] > v; j--) n[j + 1] = n[j]
            n[j + 1] = v
        }
        printf "%d functions, median %d lines, %.1f %% above 60\n", count, n[int((count + 1) / 2)], 100 * long / count
    }' $files
# shellcheck disable=SC2086
grep -cE '^.{101,}' $files | awk -F: '{ n += $2 } END { print n " lines above 100 columns" }'
echo "files above 500 lines:"
# shellcheck disable=SC2086
wc -l $files | awk '$2 != "total" && $1 > 500 { print "  " $1 " " $2 }' | sort -rn
# shellcheck disable=SC2086
wc -l $files | tail -n 1

#!/bin/sh
# run.sh BUILD: golden tests of the SPIR-V writer.  Each file is a module in IR text with comments:
#   ; target: spirv:1.4      (default spirv)
#   ;> WORDS                 a line of the disassembly begins with these words; in this order
#   ;~ REGEX                 the same, with a line that matches
#   ;! WORDS                 no line begins with them
#   ; error: TEXT            the module is refused with this message
#   ; warning: TEXT          it is accepted with this one
# What is accepted must pass spirv-val, and llvm-spirv must be able to turn it into valid LLVM code:
# many consumers are built on it, and they are stricter about phis.
set -u
build=$1
here=tests/codegen/spirv
# shellcheck source=tests/count.sh
. tests/count.sh

# Results lose their ids, so that tests do not depend on numbering: "%5 = OpLoad %float %7" is
# "OpLoad %float %7".
disassemble() { spirv-dis --no-header --no-indent "$work/out.spv" | sed 's/^%[^ ]* = //'; }

check_file() {
    file=$1
    target=$(sed -n 's/^; target: //p' "$file")
    warning=$(sed -n 's/^; warning: //p' "$file")
    error=$(sed -n 's/^; error: //p' "$file")
    if ! "$build/spvfuse" compile -O0 -t "${target:-spirv}" "$file" -o "$work/out.spv" 2>"$work/err"; then
        [ -n "$error" ] && grep -qF -- "$error" "$work/err" && return 0
        cat "$work/err"
        return 1
    fi
    [ -z "$error" ] || { echo "not refused: $error"; return 1; }
    grep -qF -- "$warning" "$work/err" || [ -z "$warning" ] || { echo "no warning"; return 1; }
    spirv-val --target-env spv1.4 "$work/out.spv" || return 1
    llvm-spirv-15 -r "$work/out.spv" -o "$work/out.bc" || return 1
    disassemble >"$work/text"
    awk -v golden="$file" '
        { line[NR] = $0 }
        END {
            at = 1
            while ((getline want < golden) > 0) {
                kind = substr(want, 1, 3); text = substr(want, 4)
                if (kind == ";> " || kind == ";~ ") {
                    while (at <= NR && !(kind == ";> " ? index(line[at], text) == 1 : line[at] ~ text)) at++
                    if (at > NR) { print "missing: " text; bad = 1; exit 1 }
                    at++
                } else if (kind == ";! ") {
                    for (i = 1; i <= NR; i++)
                        if (index(line[i], text) == 1) { print "unwanted: " line[i]; exit 1 }
                }
            }
        }' "$work/text"
}

for file in "$here"/*.ir; do check "$file" check_file "$file"; done
finish

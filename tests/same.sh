#!/bin/sh
# same.sh COMMAND BUILD: what BUILD/spvfuse, which another compiler has compiled, writes is what COMMAND
# writes, byte by byte: IR, SPIR-V, PTX and assembly of the corpus (of one producer), and PTX of golden
# files.  A difference is something that C leaves open, such as the order in which arguments are evaluated.
set -u
one=$1 other=$2/spvfuse
# shellcheck source=tests/count.sh
. tests/count.sh

# writes COMMAND TO ARGS…: the module, what is said of it, and the status.
writes() {
    command=$1 to=$2
    shift 2
    rm -f "$to"
    "$command" compile "$@" -o "$to" >"$to.said" 2>&1
    echo "status $?" >>"$to.said"
    [ -e "$to" ] || : >"$to"
}

# same ARGS…
same() {
    writes "$one" "$work/one" "$@"
    writes "$other" "$work/other" "$@"
    if cmp -s "$work/one" "$work/other" && cmp -s "$work/one.said" "$work/other.said"; then
        passed
    else
        failed "$*: $(diff "$work/one.said" "$work/other.said"; diff -a "$work/one" "$work/other" | head -n 4)"
    fi
}

for module in "$2"/corpus/clang15-O2/*.spv; do
    same "$module" -t ir
    same "$module" -t spirv
    same "$module" -t ptx
    same "$module" -t x86_64:v2 -S
    same "$module" -t x86_64:v4 -S
done
for text in tests/codegen/ptx/*.ir; do
    same "$text" -t ptx
done
finish

#!/bin/sh
# arrows.sh: the #include arrows between the folders, as docs/ARCHITECTURE.md states them.
set -u
status=0

# check FOLDER ALLOWED…: files of FOLDER include only "ALLOWED/…"
check() {
    folder=$1
    shift
    allowed=$(printf '|%s' "$@")
    bad=$(grep -rnE '^#include "' "$folder" --include='*.c' --include='*.h' --include='*.re' |
        grep -v '^codegen/math/mathpack.c:' |
        grep -vE "#include \"(${allowed#|})")
    [ -z "$bad" ] && return
    printf '%s: may include only %s:\n%s\n' "$folder" "$*" "$bad"
    status=1
}

check ir ir/
check frontend ir/ frontend/
check passes ir/ passes/passes. passes/analysis.h passes/alias.h passes/fuse passes/words.h passes/simplify_rules.inc passes/expand passes/inline passes/latency. passes/phases passes/pieces passes/regions passes/vectors passes/versions
check codegen ir/ codegen/
# public headers find each other where they are installed
check runtime ir/ frontend/frontend.h passes/fuse.h passes/regions.h codegen/codegen.h \
    runtime/ spvfuse.h
check runtime/cli runtime/spvfuse.h runtime/cli/
[ $status = 0 ] && echo "include arrows: 6 passed, 0 failed"
exit $status

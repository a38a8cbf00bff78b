#!/bin/sh
# clang.sh [COMPILER…]: builds the sources with each compiler (clang-15, clang-22) in a folder of its own,
# build/clang/COMPILER, with warnings as errors, and runs `ninja check` there; what its spvfuse writes is
# what build/spvfuse writes (same.sh).  Where the compiler has the libraries of its sanitizers, the unit
# tests and golden files are run in that variant, too.  A folder is kept, so the next run compiles what
# has changed.
set -eu
[ $# -gt 0 ] || set -- clang-15 clang-22

# In the folder, with CC set: the programs of all.sh that each variant has.
run_sanitized() {
    . tests/suites.sh
    for source in $(find tests -name '*_test.c' | sort); do
        suite "asan-$(suite_of "$source")" "build/asan/${source%.c}"
    done
    suite asan-golden build/asan/tests/run --isel --turns tests/ir tests/passes $(machine_folders)
    run_suites
    sum_up
}

has_sanitizers() {
    echo 'int main(void) { return 0; }' |
        "$CC" -fsanitize=address,undefined -x c - -o build/sanitized 2>/dev/null
}

# check COMPILER SPVFUSE: true when all of it passes; what is called within a condition is without `set -e`.
check() {
    export CC="$1" CFLAGS="-Werror ${CFLAGS-}"
    failed=0
    echo "$1: ninja check"
    ninja check || failed=1
    echo "$1: the same bytes as those of build/spvfuse"
    sh tests/same.sh "$2" build || failed=1
    if ! has_sanitizers; then
        echo "$1: no sanitizers"
        return $failed
    fi
    echo "$1: with sanitizers"
    ninja build/asan/spvfuse build/asan/tests/variant || return 1
    run_sanitized || failed=1
    return $failed
}

# Copies to the folder what it lacks or has with other bytes, and removes from it what is not here.  A copy
# has a new time, so it is compiled again even if the original is older than what the folder has built.
copy_changed() {
    (cd "$1" && find . \( -path ./build -o -path ./.git \) -prune -o -type f -print) | while read -r file; do
        [ -f "$file" ] || rm "$1/$file"
    done
    git ls-files -z -co --exclude-standard | xargs -0 sh -c '
        for file; do
            cmp -s "$file" "$0/$file" || cp --parents -t "$0" "$file"
        done' "$1"
}

spvfuse=$PWD/build/spvfuse
status=0
for compiler; do
    folder=build/clang/$compiler
    mkdir -p "$folder/build"
    copy_changed "$folder"
    (cd "$folder" && git init -q && git add -A) # some tests ask which files there are
    (cd "$folder" && check "$compiler" "$spvfuse") || status=1
done
exit $status

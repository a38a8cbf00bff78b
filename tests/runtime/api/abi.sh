#!/bin/sh
# abi.sh BUILD [--bless]: public structs can grow, and have not changed unnoticed: sizes and offsets
# are those of abi.txt, and programs with older and newer headers run with the library of now.
set -u
build=$(cd "$1" && pwd)
here=$PWD
# shellcheck source=tests/count.sh
. tests/count.sh
tests=$here/tests/runtime/api
headers='runtime/spvfuse.h runtime/spvfuse_native.h runtime/spvfuse_plan.h runtime/spvfuse_queue.h
    runtime/spvfuse_container.h'
flags='-std=c17 -Wall -Wextra -Werror -Wno-missing-field-initializers'

# shellcheck disable=SC2086
read_headers() { awk -v mode="$1" -f "$tests/abi.awk" $headers; }
list() {
    read_headers list >"$work/list.c" && gcc $flags -I"$here" "$work/list.c" -o "$work/list" &&
        "$work/list" >"$work/abi.txt"
}
check "structs are listed" list
[ "${2-}" != --bless ] || cp "$work/abi.txt" "$tests/abi.txt"
check "sizes and offsets, see docs/LIBRARY.md" diff "$tests/abi.txt" "$work/abi.txt"
# The table of kinds in the docs has each struct in its row.
is_told() {
    while read -r name kind _; do
        case $name in spvf_*) ;; *) continue ;; esac
        [ "$kind" != grows ] || kind=growing
        sed -n "s/^| $kind | .* | \(.*\) |\$/, \1,/p" docs/LIBRARY.md | grep -qF ", \`${name#spvf_}\`," ||
            { echo "docs/LIBRARY.md: $name is not $kind"; return 1; }
    done <"$work/abi.txt"
}
check "docs/LIBRARY.md tells of each" is_told
check "what may grow is reached by pointers" read_headers check

# What breaks the rules is found.
breaks() { # SED
    sed "$1" runtime/spvfuse.h >"$work/broken.h"
    ! cmp -s runtime/spvfuse.h "$work/broken.h" &&
        ! awk -v mode=check -f "$tests/abi.awk" "$work/broken.h" >"$work/found" && [ -s "$work/found" ]
}
check "a list of what may grow" breaks 's/const spvf_arg_info \*const \*args;/const spvf_arg_info *args;/'
check "a struct in a struct" breaks 's/const spvf_capabilities \*can;/spvf_capabilities can;/'
check "a result" breaks 's/^SPVF_API const spvf_kernel_info \*spvf_module_kernel/SPVF_API spvf_kernel_info spvf_module_kernel/'
check "a struct that is filled" breaks 's/spvf_spec_value \*value, uint32_t/spvf_arg_info *value, uint32_t/'

for version in now old future; do
    mkdir -p "$work/$version/runtime"
    for header in $headers; do
        if [ $version = now ]; then
            cp "$header" "$work/$version/runtime"
        else
            awk -v mode=$version -f "$tests/abi.awk" "$header" >"$work/$version/$header"
        fi
    done
done
check "older headers have smaller structs" sh -c "! cmp -s '$work/old/runtime/spvfuse.h' runtime/spvfuse.h"
caller() { # VERSION OPTION…
    version=$1
    shift
    gcc $flags "$@" -I"$work/$version" "$tests/abi_caller.c" -L"$build" -l:libspvfuse.so.0 \
        -Wl,-rpath,"$build" -o "$work/$version/caller" &&
        sed -n '/ir\[\] =/,/;$/s/^.*"\(.*\)\\n".*/\1/p' "$tests/abi_caller.c" >"$work/twice.ir" &&
        (cd "$work" && [ "$("$version/caller" | tee "$version/said")" = right ] || ! cat "$version/said")
}
if [ "$(basename "$build")" = build ]; then
    check "a program of this version" caller now
    check "a program of an older version" caller old
    check "a program of a newer version" caller future -DFUTURE
fi

# What is installed, and what makes sources of it, needs no other library: a build needs none of sanitizers.
is_plain() { ! objdump -p "$1" | awk '/NEEDED/ { print $2 }' | grep -vE '^(libc|libm|ld-linux.*)\.so'; }
for program in spvfuse libspvfuse.so mathpack rulegen textarray; do
    check "$program needs the C library alone" is_plain "$build/$program"
done
finish

#!/bin/sh
# assembly.sh BUILD: what `spvfuse compile -S` writes is what assemblers take, and its kernels write
# what those of the object write, at each level that this machine has.  Debuggers and unwinders read the
# same of both.
set -u
spvfuse=$PWD/$1/spvfuse
bench=$PWD/$1/bench
tree=$PWD
# shellcheck source=tests/suites.sh
. tests/suites.sh
# shellcheck source=tests/count.sh
. tests/count.sh
levels=$(machine_levels "$1")
cd "$work" || exit 1

check "the program" gcc -std=c17 -Wall -Werror -I"$tree" "$tree/tests/runtime/cli/assembly.c" -o both
check "SPIR-V" clang-22 -target spirv64 -O1 -fno-discard-value-names -cl-std=CL3.0 -c "$tree/tests/runtime/cli/assembly.cl" -o k.spv

# same LEVEL NAME ASSEMBLER…
same() {
    level=$1
    shift
    check "$level: the object" "$spvfuse" compile k.spv -t "x86_64:$level" -o own.o
    check "$level: the text" "$spvfuse" compile k.spv -t "x86_64:$level" -S -o k.s
    check "$level: $*" "$@" k.s -o k.o
    for form in own k; do check "$level: $form.so" gcc -shared -Wl,-z,text "$form.o" -o "$form.so"; done
    check "$level: what they write" ./both ./own.so ./k.so
}
for level in $levels; do same "$level" as; done
[ -z "$levels" ] || same "${levels%% *}" clang-22 -c

# Symbols are the same ones.
symbols() { nm "$1" | sed 's/^[0-9a-f]* //' | sort; }
symbols own.o >own.txt
symbols k.o >k.txt
check "symbols: $(diff own.txt k.txt)" cmp own.txt k.txt

# Of other modules, for levels that this machine may lack.
for level in v2 v4 icelake; do
    for module in "$bench"/learning.spv "$bench"/matmul.spv "$bench"/reduce.spv; do
        "$spvfuse" compile "$module" -t "x86_64:$level" -S -o m.s
        check "$level: $module" as m.s -o m.o
    done
done

# Other assemblers take the same text, at all levels.
for assembler in clang-15 clang-22; do
    command -v $assembler >/dev/null 2>&1 || { echo "$assembler is missing; it assembles nothing"; continue; }
    for level in v2 v3 v4 icelake; do
        "$spvfuse" compile k.spv -t "x86_64:$level" -S -o m.s
        check "$level: $assembler" $assembler -c m.s -o m.o
    done
done

# Unwinding, lines, functions and variables are those of the object, whose instructions may be longer.
frames() { readelf --debug-dump=frames-interp "$1" | sed -n 's/^[0-9a-f]* \(r[sb]p+.*\)/\1/p' | uniq; }
lines() { objdump --dwarf=decodedline "$1" | sed -n 's/^[^ ]*assembly.cl  *\([0-9][0-9]*\) .*/\1/p'; }
# Where debuggers stop that are asked for a function.
stops() { readelf --debug-dump=rawline "$1" | grep -o 'Set prologue_end to true'; }
entries() { readelf --debug-dump=info "$1" | sed -n 's/.*\(DW_AT_name\|DW_AT_location\|DW_TAG[a-z_]*\)/\1/p'; }
# same_facts FACTS: the same text of both, and not an empty one
same_facts() {
    for o in own k; do "$1" $o.o >"$o.txt"; done
    [ -s own.txt ] && cmp own.txt k.txt
}
debug() { # OPTION…
    for form in "-o own.o" "-S -o k.s"; do
        # shellcheck disable=SC2086
        "$spvfuse" compile --build="-cl-std=CL3.0" "$tree/tests/runtime/cli/assembly.cl" -t x86_64:v2 "$@" $form || return 1
    done
    as k.s -o k.o
}
check "without -g" debug
check "unwinding without -g" same_facts frames
check "no lines without -g" sh -c '! readelf -S k.o | grep -q debug'
check "with -g" debug -g
for facts in frames lines stops entries; do check "$facts" same_facts $facts; done
check "one for each function" [ "$(stops own.o | wc -l)" = "$(nm own.o | grep -c ' T .*\.block$')" ]
if command -v gdb >/dev/null 2>&1; then
    gcc -shared k.o -o k.so
    # The caller is found from each instruction of a prologue.
    cat >steps.gdb <<'G'
catch load k.so
run
break *'math.block'
continue
info line *'math.block'
set $steps = 0
while $steps < 12
  stepi
  bt
  set $steps = $steps + 1
end
G
    gdb -batch -nx -x steps.gdb --args ./both ./k.so ./k.so >gdb.txt 2>&1
    check "gdb: the line" grep -q 'Line 13 of ".*assembly.cl"' gdb.txt
    check "gdb: who called" [ "$(grep -c ' in main ()' gdb.txt)" = 12 ]
else
    echo "gdb is missing; it stops nowhere"
fi
check "with variables" debug -g -O0
for facts in frames lines stops entries; do check "$facts of -O0" same_facts $facts; done

# Names that are no words of assembly are quoted; `rax` and `and` are names of functions, too.
for kernel in 'a b' "it's" rax and ptr 'op<int>'; do
    cat >names.ir <<IR
target 64
kernel @"$kernel"(%p: ptr.global) {
entry:
  store i32 1, %p align 4
  ret
}
IR
    check "$kernel: written" "$spvfuse" compile names.ir -t x86_64 -S -o n.s
    check "$kernel" as n.s -o n.o
    check "$kernel: defined" sh -c 'nm n.o | grep -qF " T $0.block"' "$kernel"
done

check "abi nativecpu is refused" sh -c '! "$0" compile k.spv -t x86_64 --abi nativecpu -S 2>why' "$spvfuse"
check "by its name: $(cat why)" grep -q 'Native CPU' why
finish

#!/bin/sh
# words.sh BUILD: names of commands and options, suggestions, help, completion, manual pages, messages on
# a terminal, several inputs, and the reducer.
set -u
build=$(cd "$1" && pwd)
# shellcheck source=tests/count.sh
. tests/count.sh
spvfuse=$build/spvfuse
kernels=$PWD/docs/examples/kernels.cl
export SPVFUSE_CACHE_DIR="$work/cache" NO_COLOR=
spec=$PWD/tests/frontend/read/spec_constants.spvasm

# prints STATUS TEXT COMMAND…: ends with the status, and prints it on either stream.
prints() {
    status=$1 wanted=$2
    shift 2
    "$@" >"$work/out" 2>&1
    [ $? = "$status" ] && grep -qF -- "$wanted" "$work/out" || { cat "$work/out"; return 1; }
}
version=$(sed -n 's/^#define SPVF_VERSION_[MP][A-Z]* //p' runtime/spvfuse.h | paste -sd .)
commands=$("$spvfuse" help | sed -n 's/^  \([a-z]*\) .*/\1/p')
check "commands" [ "$(echo "$commands" | wc -l)" -ge 16 ]

# ---- names
check "-V" prints 0 "spvfuse $version" "$spvfuse" -V
check "--version" prints 0 "spvfuse $version" "$spvfuse" --version
for help in -h --help help; do check "$help" prints 0 "usage: spvfuse COMMAND" "$spvfuse" $help; done
for command in $commands; do
    for way in "$command -h" "$command --help" "help $command"; do
        # shellcheck disable=SC2086
        check "$way" prints 0 "usage: spvfuse $command" "$spvfuse" $way
    done
    # One style: a letter after one dash, words after two; only -O0 is older.
    check "$command: names" sh -c "! '$spvfuse' help $command | sed -n 's/^  *\(-[^ ]*\).*/\1/p' |
        grep -vE '^(-[A-Za-z],|--[a-z][a-z0-9-]*|-O0,)\$'"
done
check "a command that is near" prints 2 "did you mean 'compile'?" "$spvfuse" complie
check "a command that is not" prints 2 "see 'spvfuse --help'" "$spvfuse" xyzzy
check "help of none" prints 2 "unknown command 'nope'" "$spvfuse" help nope
check "an option that is near" prints 2 "did you mean '--dump-after'?" "$spvfuse" opt --dump-aftr
check "an option that is near, with a value" prints 2 "did you mean '--target'?" "$spvfuse" compile --traget=ir
check "an option that is near, for all" prints 2 "did you mean '--verbose'?" "$spvfuse" devices --verbos
check "an option that is not" prints 2 "see 'spvfuse opt --help'" "$spvfuse" opt --xyzzy
for names in "-t -o" "--target --output" "-target -output"; do
    check "$names" "$spvfuse" compile "${names% *}" ir "${names#* }" "$work/k.ir" "$kernels"
done
for name in -time --time -stats --stats -verify-each --verify-each; do
    check "$name" "$spvfuse" opt $name "$kernels"
done
cp "$work/k.ir" "$work/-o"
check "--" prints 0 "kernel scale" sh -c "cd '$work' && '$spvfuse' info -- -o"
check "-- ends options" prints 1 "--json: error: cannot be read: No such file" "$spvfuse" info -- --json
check "an option before a command" prints 2 "unknown option '--verison'; did you mean '--version'?" "$spvfuse" --verison
check "an option of one letter" prints 2 "unknown option '-Z'; see 'spvfuse info --help'" "$spvfuse" info -Z
check "no file" prints 2 "spvfuse info: FILE… is missing" "$spvfuse" info
check "a folder" prints 1 "cannot be read: Is a directory" "$spvfuse" info "$work"
check "a file without a name" prints 1 "'': error: cannot be read" "$spvfuse" info ''
check "a file that cannot be written" prints 1 "cannot be written: No such file" "$spvfuse" opt "$kernels" -o "$work/no/x"
check "a pass that is near" prints 2 "unknown pass 'mem2rge'; did you mean 'mem2reg'?" "$spvfuse" opt -p inline,mem2rge "$kernels"
check "a stage that is near" prints 2 "did you mean 'select'?" "$spvfuse" compile -t x86_64 --stop-after slect "$kernels"
check "a device that is near" prints 2 "unknown device 'cpuu'; did you mean 'cpu'?" "$spvfuse" run -d cpuu:v2 x.plan
check "a target that is near" prints 2 "unknown target 'x86_64:v5'; did you mean" "$spvfuse" compile -t x86_64:v5 "$kernels"
check "a target that begins so" prints 2 "did you mean 'x86_64'?" "$spvfuse" compile -t x86 "$kernels"
check "the list standard" prints 0 "kernel @scale" "$spvfuse" opt -p standard,dce "$kernels"
check "--abi of none" prints 2 "--abi takes 'nativecpu', not 'windows'" "$spvfuse" compile -t x86_64 --abi windows "$kernels"
for option in -S -g "--abi nativecpu" "--regalloc stack"; do
    # shellcheck disable=SC2086
    check "$option of no object" prints 2 "${option%% *} is for objects of -t x86_64" "$spvfuse" compile -t ir $option "$kernels"
done
for name in '' 'a b' 9x; do
    check "--table '$name'" prints 2 "--table takes a name of C" "$spvfuse" compile -t x86_64 --table "$name" "$kernels"
done
for range in 0 64/0 99999999999999999999 1,2,3,4 x; do
    check "--range $range" prints 2 "'$range' is no range" "$spvfuse" opt --range "$range" "$kernels"
done
# shellcheck disable=SC2046
check "options beyond those that there is room for" prints 1 "one option too many: '33=1'" \
    "$spvfuse" info $(seq -f '--spec %g=1' 40) "$kernels"
check "sizes of devices" prints 0 "work-groups of at most 65536 work-items" "$spvfuse" devices -v
check "a value of --color" prints 2 "neither auto, always nor never" "$spvfuse" devices --color=blue

# ---- completion
for shell in bash zsh fish; do
    check "completion $shell" sh -c "'$spvfuse' completion $shell >'$work/$shell'"
    for command in $commands; do
        check "completion $shell: $command" grep -qw "$command" "$work/$shell"
    done
    if command -v $shell >/dev/null 2>&1; then
        check "completion $shell is a script" $shell -n "$work/$shell"
    else
        echo "$shell is missing; its completion is not parsed"
    fi
done
check "no such shell" prints 2 "neither bash, zsh nor fish" "$spvfuse" completion csh
cat >"$work/complete" <<'B'
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE=$* COMP_POINT=${#COMP_LINE} COMP_WORDBREAKS=' =:'
compopt() { echo "$2"; }
_spvfuse
echo "${COMPREPLY[*]}"
B
completes() { # WANTED WORD…
    wanted=$1
    shift
    bash "$work/complete" "$work/bash" "$@" >"$work/out"
    [ "$(echo $(cat "$work/out"))" = "$wanted" ] || { cat "$work/out"; return 1; }
}
if command -v bash >/dev/null 2>&1; then
    check "commands" prints 0 "compile completion" bash "$work/complete" "$work/bash" spvfuse comp
    check "options" prints 0 "--dump-after --dump-changed" bash "$work/complete" "$work/bash" spvfuse opt --dump
    check "targets" prints 0 "x86_64:v3" bash "$work/complete" "$work/bash" spvfuse compile k.spv -t x86
    check "passes" prints 0 "simplifycfg" bash "$work/complete" "$work/bash" spvfuse opt --stop-after simpl
    check "devices" prints 0 "check" bash "$work/complete" "$work/bash" spvfuse run --device ch
    check "files" completes "default" spvfuse info doc
    check "the folder of unpack" completes "dirnames" spvfuse unpack x -o ''
    check "after =" completes "auto always never" spvfuse info --color=
    check "after =, a part" completes "always" spvfuse info --color=al
    check "after a colon" completes "v2 v3 v4" spvfuse compile -t x86_64:v
    check "a list" completes "inline,mem2reg inline,memopt" spvfuse opt -p inline,mem
    check "targets of reduce" completes "ir spirv" spvfuse reduce -t ''
    check "actions of the cache" completes "stats verify clear" spvfuse cache ''
    check "an action" completes "verify" spvfuse cache ver
    check "the only value" completes "nativecpu" spvfuse compile --abi ''
    check "a number" completes "" spvfuse opt --bisect ''
    check "no argument" completes "" spvfuse devices ''
    check "commands for help" prints 0 "reduce" bash "$work/complete" "$work/bash" spvfuse help red
fi

# ---- manual pages
for page in "" $commands; do
    # shellcheck disable=SC2086
    check "man $page" sh -c "'$spvfuse' man $page >'$work/page.1'"
    if command -v man >/dev/null 2>&1; then
        check "man $page: no warnings" sh -c "! man --warnings -l '$work/page.1' 2>&1 >/dev/null | grep ."
    fi
    sed 's/\\-/-/g' "$work/page.1" >"$work/plain"
    for option in $([ -z "$page" ] || "$spvfuse" help "$page" | sed -n 's/^[^a-z]*\(.[A-Za-z],\)* *\(--[a-z0-9-]*\).*/\2/p'); do
        check "man $page: $option" grep -qF -- "$option" "$work/plain"
    done
done
check "man of none" prints 2 "unknown command" "$spvfuse" man nope

# ---- messages
printf 'kernel void k(global float *x) {\n\tint y = zz;\n}\n' >"$work/e.cl"
escape=$(printf '\033')
check "no colours in a file" sh -c "! '$spvfuse' info '$work/e.cl' 2>&1 | grep '$escape'"
check "no line in a file" sh -c "! '$spvfuse' info '$work/e.cl' 2>&1 | grep ' | '"
check "colours" prints 1 "$escape[1;31merror:$escape[0m use of undeclared" "$spvfuse" info --color=always "$work/e.cl"
check "the line" prints 1 "    2 | 	int y = zz;" "$spvfuse" info --color=always "$work/e.cl"
check "the caret" prints 1 "      | 	        $escape[1;32m^" "$spvfuse" info --color=always "$work/e.cl"
if command -v script >/dev/null 2>&1; then
    terminal() { script -qec "$1" /dev/null; }
    check "a terminal" prints 1 "$escape[1;31merror:" terminal "TERM=xterm $spvfuse info $work/e.cl"
    check "NO_COLOR" sh -c "! NO_COLOR=1 script -qec '$spvfuse info $work/e.cl' /dev/null | grep -F '$escape[1'"
    check "a dumb terminal" sh -c "! script -qec 'TERM=dumb $spvfuse info $work/e.cl' /dev/null | grep -F '$escape[1'"
    check "no binary for a terminal" prints 1 "binary output is not for a terminal" \
        terminal "$spvfuse compile $kernels -t spirv"
    printf 'target 64\nkernel @k(%%p: ptr.global of i32) {\nentry:\n  jmp head\nhead:\n  %%i: i32 = phi [entry: 0, head: %%j]\n  %%j: i32 = add %%i, 1\n  %%c: i1 = ult %%j, i32 60000\n  br %%c, head, end\nend:\n  store %%j, %%p align 4\n  ret\n}\n' >"$work/long.ir"
    printf 'buffer x i32[1]\nlaunch "long.ir":k global 6000 local 1 args x\nprint x[0]\n' >"$work/long.plan"
    check "what is left" sh -c "TERM=xterm script -qec 'timeout 8 $spvfuse run -d check $work/long.plan' /dev/null |
        grep -aqE '[0-9]+ %, [0-9]+ s left'"
    check "nothing is left over" sh -c "TERM=xterm script -qec 'timeout 60 $spvfuse run -d cpu $work/p.plan' /dev/null | grep -avq left"
    check "nothing in a file" sh -c "timeout 3 '$spvfuse' run -d check '$work/long.plan' >'$work/out' 2>&1; ! grep left '$work/out'"
    check "text for a terminal" prints 0 "kernel @scale" terminal "$spvfuse compile $kernels -t ir"
    check "-o -" sh -c "script -qec '$spvfuse compile $kernels -t spirv -o -' /dev/null | wc -c | grep -vqx '[0-9][0-9]'"
fi

# ---- sums of times
check "sums of times" sh -c "'$spvfuse' opt --time '$kernels' 2>&1 >/dev/null | grep -qE '^simplify +[0-9.]+ ms +[0-9.]+ % +[0-9]+ runs'"
check "the sum" sh -c "'$spvfuse' compile -t x86_64:v2 --time '$kernels' 2>&1 >/dev/null | tail -n 1 | grep -qE '^all +[0-9.]+ ms'"
check "times of stages" sh -c "'$spvfuse' compile -t x86_64:v2 --time '$kernels' 2>&1 >/dev/null | grep -qE '^assign +'"

# ---- several inputs
cp "$kernels" "$work/b.cl"
check "info of two" prints 0 "b.cl:" "$spvfuse" info "$kernels" "$work/b.cl"
check "one of them is missing" prints 1 "kernel slope" "$spvfuse" info nothing.spv "$work/b.cl"
check "compile of two" sh -c "cd '$work' && '$spvfuse' compile -t x86_64:v2 '$kernels' b.cl && [ -s kernels.o ] && [ -s b.o ]"
mkdir "$work/there"
cp "$kernels" "$work/there/b.cl"
check "two of one name" prints 1 "to/b.o: error: both 'b.cl' and 'there/b.cl' would become this file" \
    sh -c "cd '$work' && mkdir to && '$spvfuse' compile -t x86_64:v2 -o to b.cl there/b.cl"
check "the first of them" [ -s "$work/to/b.o" ]
"$spvfuse" compile -t ir -o "$work/there/b.v1.ir" "$kernels"
cp "$work/there/b.v1.ir" "$work/there/b.v2.ir"
check "names with points" sh -c "cd '$work/there' && '$spvfuse' compile -t spirv b.v1.ir b.v2.ir && [ -s b.v1.spv ] && [ -s b.v2.spv ]"
check "an input is not written over" prints 1 "b.v1.ir: error: would be written over" \
    sh -c "cd '$work/there' && '$spvfuse' compile -t ir b.v1.ir b.v2.ir"
check "compile of two to a folder" sh -c "'$spvfuse' compile -t spirv -o '$work/to' '$kernels' '$work/b.cl' && [ -s '$work/to/b.spv' ]"
check "--table" sh -c "'$spvfuse' compile -t x86_64:v2 --table mine --header '$work/mine.h' '$kernels' -o '$work/m.o' &&
    nm '$work/m.o' | grep -q ' D mine' && ! nm '$work/m.o' | grep -q spvf_kernels && grep -q 'mine\[\]' '$work/mine.h'"
check "--table of no object" prints 2 "--table is for objects" "$spvfuse" compile -t ir --table x "$kernels"
sed 's/kernels.spv/kernels.cl/' docs/examples/kernels.plan >"$work/p.plan"
cp "$kernels" "$work/kernels.cl"
check "run of two" prints 0 "expectations 2 of 2" "$spvfuse" run --times "$work/p.plan" "$work/p.plan"
check "run: one fails" prints 1 "" "$spvfuse" run "$work/nothing.plan" "$work/p.plan"
check "explain of two" sh -c "'$spvfuse' explain '$work/p.plan' '$work/p.plan' | grep -c '^$work/p.plan:\$' | grep -qx 2"
check "explain of two pages" prints 2 "--html is the picture of one plan" "$spvfuse" explain --html "$work/x.html" "$work/p.plan" "$work/p.plan"
check "bench of two" prints 0 "p.plan:" "$spvfuse" bench -d check "$work/p.plan" "$work/p.plan"
check "opt of two" sh -c "'$spvfuse' opt '$kernels' '$work/b.cl' | grep -c '^; .*\.cl\$' | grep -qx 2"
check "opt of two, for a folder" sh -c "'$spvfuse' opt -o '$work/to' '$kernels' '$work/b.cl' && [ -s '$work/to/b.ir' ]"
check "opt of two graphs" prints 0 "// $work/b.cl" "$spvfuse" opt --cfg "$kernels" "$work/b.cl"
for command in "explain" "run" "bench -d check"; do
    # shellcheck disable=SC2086
    "$spvfuse" $command --json "$work/p.plan" "$work/nothing.plan" "$work/p.plan" >"$work/list.json" 2>/dev/null
    check "$command: a list" [ $? = 1 ]
    if command -v python3 >/dev/null 2>&1; then
        check "$command: of three" python3 -c "import json, sys
list = json.load(open(sys.argv[1]))
sys.exit(not (len(list) == 3 and list[0] and list[1] is None and list[2]))" "$work/list.json"
    fi
done
check "--group" "$spvfuse" fuse --group axpy "$work/p.plan" -o "$work/axpy.spv"
printf 'buffer b f32[128]\nfuse bad {\n  launch "kernels.cl":scale global 64 args 2.0, b, b\n  launch "kernels.cl":slope global 64 args b, b\n}\n' >"$work/bad.plan"
check "--group that is refused" prints 1 "bad.plan: error: group 'bad' was not fused" "$spvfuse" fuse --group bad "$work/bad.plan"
check "--group of none" prints 1 "no group 'axpz'; did you mean 'axpy'?" "$spvfuse" fuse --group axpz "$work/p.plan"

# ---- specialization constants
if command -v spirv-as >/dev/null 2>&1; then
    spirv-as --target-env spv1.2 "$spec" -o "$work/s.spv" 2>/dev/null
    id=$("$spvfuse" info "$work/s.spv" | sed -n 's/^spec \([0-9]*\): 32 bits.*/\1/p' | head -n 1)
    check "--spec" prints 0 "spec $id: 32 bits, 0x7b" "$spvfuse" info --spec "$id=123" "$work/s.spv"
    check "--spec in hexadecimal" prints 0 "spec $id: 32 bits, 0x7b" "$spvfuse" info --spec "$id=0x7b" "$work/s.spv"
    check "--spec, a float" prints 0 "spec $id: 32 bits, 0x3fc00000" "$spvfuse" info --spec "$id=1.5f" "$work/s.spv"
    check "--spec, no warning" sh -c "! '$spvfuse' compile -t spirv --spec $id=1 '$work/s.spv' -o /dev/null 2>&1 |
        grep 'by default:.* $id\>'"
fi
for wrong in "" 7 7= =7 7=x 7=1x 7=1.5q; do
    check "--spec '$wrong'" prints 1 "--spec takes ID=V, not '$wrong'" "$spvfuse" info --spec "$wrong" "$kernels"
done

# ---- the reducer: a module with a multiplication of floats
cat >"$work/test" <<T
#!/bin/sh
! "$spvfuse" opt -p dce "\$1" | grep -q fmul || { echo it multiplies; exit 3; }
T
chmod +x "$work/test"
check "reduce" "$spvfuse" reduce "$kernels" -t ir -o "$work/small.ir" -- "$work/test"
temporary=$work/a-folder-whose-name-is-longer-than-that-of-most-folders-for-temporary-files
mkdir "$temporary"
check "reduce in TMPDIR" env TMPDIR="$temporary" "$spvfuse" reduce "$kernels" -t ir -o "$work/there.ir" -- \
    sh -c "case \$1 in $temporary/spvfuse-reduce-*) exec $work/test \$1 ;; esac; exit 1" -
check "reduce leaves nothing in TMPDIR" [ -z "$(ls "$temporary")" ]
TMPDIR="$work/nowhere" "$spvfuse" reduce "$kernels" -t ir -o "$work/there.ir" -- "$work/test" >"$work/reducer" 2>&1
check "reduce says where it cannot write" grep -q "no folder can be made in $work/nowhere" "$work/reducer"
check "reduce: it still fails" prints 3 "it multiplies" "$work/test" "$work/small.ir"
check "reduce: it is small" [ "$(grep -c . "$work/small.ir")" -le 7 ]
check "reduce: it is right" "$spvfuse" opt --verify-each -p dce "$work/small.ir"
"$spvfuse" compile -t spirv "$kernels" -o "$work/k.spv"
check "reduce SPIR-V" "$spvfuse" reduce "$work/k.spv" -o "$work/small.spv" --message "it multi" -- "$work/test"
check "reduce SPIR-V: it still fails" prints 3 "it multiplies" "$work/test" "$work/small.spv"
check "reduce: the output is text" sh -c "'$spvfuse' reduce '$work/k.spv' -o '$work/named.ir' -- '$work/test' && grep -q fmul '$work/named.ir'"
check "reduce: where it cannot write, before any test" sh -c "! '$spvfuse' reduce '$work/k.spv' -o '$work/no/x.spv' -- touch '$work/tested' &&
    [ ! -e '$work/tested' ]"
[ -z "$(command -v script)" ] || check "reduce: no binary for a terminal, before any test" \
    sh -c "! script -qec '$spvfuse reduce $work/k.spv -- touch $work/tested' /dev/null && [ ! -e '$work/tested' ]"
check "reduce: another message" prints 1 "the test does not fail with that message" \
    "$spvfuse" reduce "$work/k.spv" --message nothing -- "$work/test"
check "reduce: no failure" prints 1 "the test does not fail" "$spvfuse" reduce "$work/k.spv" -- true
check "reduce: a test that is not there" prints 1 "the test cannot be run: '$work/absent' ends with status 127" \
    "$spvfuse" reduce "$work/k.spv" -- "$work/absent"
check "reduce: a test that is no program" prints 1 "the test cannot be run" "$spvfuse" reduce "$work/k.spv" -- "$work/k.spv"
check "reduce: arguments of the test" prints 0 "func" "$spvfuse" reduce -t ir "$kernels" -- sh -c \
    "! grep -q fmul \$2 || exit 5" sh -x
check "reduce: a test that hangs" prints 1 "the test does not fail" \
    "$spvfuse" reduce --timeout 0 "$work/k.spv" -- sh -c 'exec sleep 100'
# Interrupted, it ends what the test has started, writes what it has found, and ends by the signal.
cat >"$work/slow" <<T
#!/bin/sh
[ -e "$work/begun" ] || { echo >"$work/begun"; exit 3; }
sleep 1234 &
echo \$! >"$work/sleeper"
wait
T
chmod +x "$work/slow"
sleeps() { grep -q 123 "/proc/$(cat "$work/sleeper")/cmdline" 2>/dev/null; } # a dead one has no words
no_sleeper() { # within two seconds: a process that was killed may end later
    [ -s "$work/sleeper" ] || return 1
    for _ in $(seq 200); do sleeps || return 0; sleep 0.01; done
    return 1
}
interrupted() { # SIGNAL STATUS
    rm -f "$work/begun" "$work/sleeper" "$work/left.ir"
    "$spvfuse" reduce "$kernels" -t ir -o "$work/left.ir" -- "$work/slow" &
    reducer=$!
    for _ in $(seq 500); do [ -s "$work/sleeper" ] && break; sleep 0.01; done
    kill -s "$1" $reducer
    wait $reducer
    [ $? = "$2" ] && grep -q fmul "$work/left.ir" && no_sleeper
}
check "reduce: SIGTERM" interrupted TERM 143
check "reduce: SIGHUP" interrupted HUP 129
if command -v script >/dev/null 2>&1; then
    rm -f "$work/begun" "$work/sleeper" "$work/left.ir"
    (for _ in $(seq 500); do [ -s "$work/sleeper" ] && break; sleep 0.01; done; printf '\003'; sleep 0.3) |
        script -qec "$spvfuse reduce $kernels -t ir -o $work/left.ir -- $work/slow" /dev/null >"$work/out"
    check "reduce: Ctrl-C" grep -q fmul "$work/left.ir"
    check "reduce: Ctrl-C is said" grep -q 'when it was interrupted' "$work/out"
    check "reduce: Ctrl-C ends the test" no_sleeper
fi
rm "$work/sleeper"
"$spvfuse" reduce --timeout 1 "$work/k.spv" -- sh -c "sleep 1235 & echo \$! >'$work/sleeper'; wait" >/dev/null 2>&1
check "reduce: what a test leaves behind ends" no_sleeper
check "reduce: nothing is left in /tmp" sh -c "! ls -d /tmp/spvfuse-reduce-* 2>/dev/null"
finish

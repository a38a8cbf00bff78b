#!/bin/sh
# bugs.sh BUILD: what the command says of a failed assertion, with a spvfuse that has a bug in the
# stage that BREAK names (broken.c): where it was, and a command that shows it again.
set -u
broken=$PWD/$1/tests/runtime/cli/broken
driver=$PWD/$1/tests/runtime/devices/cuda
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1
unset SPVF_ABORT SPVFUSE_ABORT

cat >k.ir <<'IR'
target 64
kernel @put(%p: ptr.global of i32, %n: i64) {
entry:
  %i: i64 = global_id 0
  jmp head
head:
  %k: i64 = phi [entry: 0, head: %next]
  %a: i64 = add %i, 1
  %b: i64 = add %k, %a
  %o: i64 = shl %b, 2
  %q: ptr.global = ptradd %p, %o
  store i32 1, %q align 4
  %next: i64 = add %k, 1
  %more: i1 = ult %next, %n
  br %more, head, done
done:
  ret
}
IR
{ echo 'buffer x i32[256] = 0' && echo 'launch "k.ir":put global 64 local 16 args x, 8'; } >k.plan

holds() {
    if "$@"; then passed; else failed "$what: $*: $(cat err)"; fi
}

# fails STAGE COMMAND…: ends with an internal error in the stage, and prints a command that does so,
# too, and has the code before it on standard output.
fails() {
    export BREAK="$1"
    shift
    what="$BREAK: $*"
    "$broken" "$@" >out 2>err
    holds [ $? = 1 ]
    holds grep -qE "internal error in $BREAK of @put(\.block)?, block [a-z0-9]+, at '.*' \
\(tests/runtime/cli/broken.c:[0-9]+\): '.*not broken.*' does not hold; please report it" err
    sed -n 's/^spvfuse: this shows it again, after the code before it: //p' err >again
    holds [ "$(wc -l <again)" = 1 ]
    sed -n 's/.*internal error/internal error/p' err >first
    sh again >code 2>err
    holds [ $? = 1 ]
    sed -n 's/.*internal error/internal error/p' err >second
    holds cmp -s first second
    holds grep -q '@put' code
}

fails reassociate opt k.ir -p standard
holds [ "$(head -n 1 code)" = '; after licm' ]
what='the code before it, by itself'
BREAK=reassociate "$broken" opt code -p reassociate >out 2>err
holds [ $? = 1 ]
holds grep -q 'internal error in reassociate of @put' err

fails reassociate compile k.ir -t x86_64:v3 -p dce -o 'a file.o'
fails spill compile k.ir -t x86_64:v3 -O0 -o k.o
holds [ "$(head -n 1 code)" = '; after schedule' ]
fails select compile k.ir -t x86_64 -o k.o
fails assign run k.plan -d cpu
fails reassociate run k.plan -d check

# Device cuda first tries which kernels can be written, and says nothing of the others.  A bug is told all
# the same (the driver is that of tests).
export LD_LIBRARY_PATH="$driver" SPVFUSE_CACHE=0
fails step_pointers run k.plan -d cuda
fails step_pointers compile k.ir -t ptx -o k.ptx
unset LD_LIBRARY_PATH SPVFUSE_CACHE

# An operand of the command that a shell would take apart.
cp k.ir "it's k.ir"
fails reassociate opt "it's k.ir"

# With SPVFUSE_BUGS, the code before the stage is in a file that the message names, and for a pass the
# file is an input that fails in the same way.
saves() {
    mkdir -m 700 bugs
    BREAK=$1 SPVFUSE_BUGS=$PWD/bugs
    export BREAK SPVFUSE_BUGS
    shift
    what="SPVFUSE_BUGS, $BREAK: $*"
    "$broken" "$@" >out 2>err
    holds [ $? = 1 ]
    file=$(sed -n 's|.*; please report it with \(/[^ ]*\)$|\1|p' err)
    holds [ "$(dirname "$file")/$(ls bugs)" = "$PWD/bugs/$(basename "$file")" ]
    holds [ "$(stat -c %a "$file")" = 600 ]
    holds grep -q "^; internal error in $BREAK of @put" "$file"
    holds grep -q "^; the code before $BREAK:$" "$file"
    holds grep -q '@put' "$file"
    unset SPVFUSE_BUGS
}
saves reassociate compile k.ir -t x86_64:v3 -O0 -o k.o
holds grep -q "^; spvfuse opt THIS-FILE -p reassociate$" "$file"
"$broken" opt "$file" -p reassociate >out 2>err
holds [ $? = 1 ]
holds grep -q 'internal error in reassociate of @put' err
rm -r bugs
saves select compile k.ir -t x86_64:v3 -O0 -o k.o
"$broken" compile k.ir -t x86_64:v3 -O0 --dump-after legalize -o k.o >out 2>err
sed '/^;/d' "$file" >code
sed '/^;/d; $d' out >dump
holds cmp -s code dump
rm -r bugs
saves regions run k.plan -d cpu
holds grep -q '^kernel @put' "$file"
rm -r bugs

# Where there is no folder, the message says so, and the error is the same.
what='SPVFUSE_BUGS without a folder'
SPVFUSE_BUGS=$PWD/bugs BREAK=reassociate "$broken" opt k.ir -p standard >out 2>err
holds [ $? = 1 ]
holds grep -q "warning: SPVFUSE_BUGS: .*/bugs/reassociate-[0-9]*-0.ir: No such file or directory" err
holds grep -q 'internal error in reassociate of @put.*; please report it$' err
what='the same, while code is written'
SPVFUSE_BUGS=$PWD/bugs BREAK=step_pointers "$broken" compile k.ir -t ptx -o k.ptx >out 2>err
holds [ $? = 1 ]
holds grep -q "warning: SPVFUSE_BUGS: .*/bugs/step_pointers-[0-9]*-0.ir: No such file or directory" err

# Nothing that has the name is overwritten or followed.
what='SPVFUSE_BUGS with a link'
mkdir bugs
echo kept >victim
SPVFUSE_BUGS=$PWD/bugs BREAK=reassociate sh -c '
    for n in 0 1 2; do ln -s "$PWD/victim" "bugs/reassociate-$$-$n.ir"; done
    exec "$0" opt k.ir -p standard' "$broken" >out 2>err
holds [ "$(cat victim)" = kept ]
holds grep -q 'please report it with .*/bugs/reassociate-[0-9]*-3.ir$' err
rm -r bugs

# A program with more rights than its user ignores the variable.  Not every file system gives such
# rights to programs.
as_nobody() {
    SPVFUSE_BUGS=$PWD/bugs BREAK=reassociate setpriv --reuid 65534 --clear-groups "$@" >out 2>err
}
what='SPVFUSE_BUGS, set-uid'
if [ "$(id -u)" = 0 ]; then
    mkdir bugs
    chmod 777 bugs
    chmod 755 .
    cp "$(command -v id)" id
    chmod 4755 id
    cp "$broken" plain
    cp "$broken" privileged
    chmod 4755 privileged
    as_nobody ./id -u
    if [ "$(cat out)" = 0 ]; then
        as_nobody ./privileged opt k.ir -p standard
        holds grep -q 'internal error' err
        holds [ -z "$(ls bugs)" ]
    fi
    as_nobody ./plain opt k.ir -p standard
    holds [ "$(ls bugs | wc -l)" = 1 ]
fi

# In a process that is to be stopped, the message comes first.
what='with SPVFUSE_ABORT'
(SPVFUSE_ABORT=1 BREAK=licm2 "$broken" opt k.ir >out 2>err)
holds [ $? = 0 ]
(ulimit -c 0 && SPVFUSE_ABORT=1 BREAK=reassociate "$broken" opt k.ir >out 2>err)
holds [ $? -gt 1 ]
holds grep -q 'internal error in reassociate of @put' err
finish

#!/bin/sh
# command.sh BUILD: the command as a user calls it: exit status, standard output, standard error.
set -u
spvfuse=$PWD/$1/spvfuse
json=$PWD/$1/tests/json
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

# expect STATUS OUT ERR COMMAND…: OUT and ERR are patterns of the shell for all that is written.
expect() {
    status=$1 out=$2 err=$3
    shift 3
    "$@" >out 2>err
    got=$?
    right=yes
    [ "$got" = "$status" ] || right="exit status $got, not $status"
    case $(tr -d '\0' <out) in $out) ;; *) right="standard output: $(head -c 400 out)" ;; esac
    case $(cat err) in $err) ;; *) right="standard error: $(head -c 400 err)" ;; esac
    ! grep -qE "kernel [@'](\w+)\b.*kernel [@']\1\b" err || right="names a kernel twice: $(cat err)"
    if [ "$right" = yes ]; then
        passed
    else
        failed "$*: $right"
    fi
}

kernel() {
    printf 'kernel @%s(%%p: ptr.global of i32, %%v: i32) {\nentry:\n' "$1"
    printf '  store %%v, %%p align 4\n  ret\n}\n'
}
{ echo 'target 64' && kernel put; } >k.ir
{ echo 'target 32' && kernel put; } >narrow.ir
{ echo 'target 64' && printf 'kernel @"a\377b\303\251"() {\nentry:\n  ret\n}\n'; } >name.ir
cat >local.ir <<'IR'
target 64
kernel @get(%p: ptr.global of i32, %l: ptr.local of i32) {
entry:
  %v: i32 = load %p align 4
  store %v, %l align 4
  ret
}
IR
cat >broken.ir <<'IR'
target 64
func @far() import
kernel @k() {
entry:
  call @far()
  ret
}
IR
launch() { echo "launch \"$1\":put global 64 local $2 args ${3:-x}, 1"; }
{ echo 'buffer x i32[64] = 0' && launch k.ir 16 && echo 'print x[0]'; } >good.plan
{ echo 'buffer x i32[64] = 0' && launch narrow.ir 16; } >narrow.plan
{ echo 'buffer x i32[64] = 0'
    echo 'launch "local.ir":get global 64 args x, local 1099511627776'; } >local.plan
first() { printf 'fuse a {\n%s\n%s\n}\n' "$(launch k.ir 16)" "$(launch k.ir 16 y)"; }
second() { printf 'fuse b {\n%s\n%s\n}\n' "$(launch k.ir 16)" "$(launch k.ir 32)"; }
buffers() { printf 'buffer %s i32[64] = 0\n' x y; }
{ buffers && first && second; } >two.plan
{ buffers && second && first; } >wrong.plan
: >empty.spv
cat >lines.ir <<'IR'
target 64
file "a\"b\\c\t.cl"
line 9 0 7 2
kernel @write(%p: ptr.global of i32) {
entry:
  %i: i64 = global_id 0
  %o: i64 = shl %i, 2
  %q: ptr.global = ptradd %p, %o
  store i32 1, %q align 4 !9
  ret
}
kernel @turn(%p: ptr.global of i32, %r: ptr.global of i32) {
entry:
  %i: i64 = global_id 0
  %j: i64 = sub 63, %i
  %o: i64 = shl %i, 2
  %u: i64 = shl %j, 2
  %q: ptr.global = ptradd %p, %u
  %s: ptr.global = ptradd %r, %o
  %v: i32 = load %q align 4
  store %v, %s align 4
  ret
}
IR
{ echo 'buffer x i32[64]' && echo 'buffer y i32[64]' && echo 'fuse g {'
    echo 'launch "lines.ir":write global 64 local 16 args x'
    echo 'launch "lines.ir":turn global 64 local 16 args x, y' && echo '}'; } >turn.plan
sed 's/global 64/global 1152921504606846976/' turn.plan >huge.plan
sed 's/fuse g/fuse g strict/' turn.plan >strict.plan

# ---- arguments
expect 2 '' '*unknown command*' "$spvfuse" nothing
expect 2 '' "*not a number: 'x'*" "$spvfuse" opt k.ir -bisect x
expect 2 '' "*not a number: '-1'*" "$spvfuse" run good.plan --limit -1
huge=99999999999999999999
expect 2 '' "*not a number: '$huge'*" "$spvfuse" run good.plan --limit=$huge
expect 2 '' '*--validate compares fused groups, --unfused fuses none*' \
    "$spvfuse" run good.plan --unfused --validate
expect 0 'target 64*' '' "$spvfuse" opt k.ir -bisect 0
expect 1 '' "*there is no pass 'x'*" "$spvfuse" opt k.ir -p x
expect 0 'inline *sroa *sroa * mem2reg *only whole variables become values*' '' \
    "$spvfuse" opt --list-passes
expect 0 'digraph module {*label="@put"*f0_0 \[label="*:\\l  *ret\\l"\];*}' '' "$spvfuse" opt --cfg k.ir
expect 0 '' '' "$spvfuse" compile -t dot k.ir -o k.dot
expect 0 '*.target sm_90*.visible .entry a(*' '' "$spvfuse" fuse two.plan --group a -t ptx:sm_90
expect 0 '*?ELF*' '' "$spvfuse" fuse two.plan --group a -t x86_64:v3
expect 0 'digraph module {*' '' "$spvfuse" fuse two.plan --group a -t dot
expect 0 '; after access*; @put on {64/16}*writes 4 bytes at %p + 0, always: bytes 0 to 3*kernel @put*' '' \
    "$spvfuse" opt k.ir -p simplify,access --range 64/16
expect 2 '' "*'64/' is no range*" "$spvfuse" opt k.ir -p access --range 64/
expect 1 '' '*an nd-range has 1 to 3 dimensions of whole work-groups*' \
    "$spvfuse" opt k.ir -p access --range 64/3
expect 0 '' '*note: memopt: * ns*note: native code: select: * ns*note: native code: spill: * ns*' \
    "$spvfuse" compile -time -t x86_64 k.ir -o k.o

# ---- passes and stages: each name, the number of one, and all
native() { "$spvfuse" compile k.ir -t x86_64 "$@"; }
for stage in legalize select schedule spill assign emit; do
    expect 0 "; after $stage*put.block*" '' native -dump-after $stage -o k.o
    expect 0 '*put.block*put*' '' native -stop-after $stage
done
expect 0 '*put.block(*level machine {*mach * ; mov*' '' native -stop-after select
expect 0 '*level allocated {*; mov r?? <- r??*' '' native -stop-after assign
native -stop-after emit >emit.s
expect 0 '' '' native -S -o s.s
sed -n '/^put.block:/,/att_syntax/p' s.s | grep -v '^    \.' >code.s
expect 0 '' '' diff -B emit.s code.s
expect 0 'target 64*kernel @put(*' '' native -stop-after gvn
expect 0 'target 64*func @put.block(*' '' native -O0 -stop-after regions
expect 0 'target 64*func @put.block(*' '' native -O0 -stop-after expand
expect 0 '; after inline*; after sink*; after calls*; after regions*; after emit*' '' \
    native -dump-after '*' -o k.o
expect 0 '; after sroa*kernel @put*' '' native -dump-after 2 -o k.o
expect 0 '; after sroa*kernel @put*' '' "$spvfuse" opt k.ir -dump-after 2 -o k2.ir
unknown="*there is no pass or stage 'x'; the passes are inline, *; the stages of native code are \
legalize, select, schedule, spill, assign, emit"
for switch in -stop-after -dump-after; do
    expect 1 '' "$unknown" native $switch x -o k.o
    expect 1 '' "$unknown" "$spvfuse" opt k.ir $switch x
    expect 1 '' "$unknown" "$spvfuse" run good.plan $switch x
    expect 1 '' "*there is no pass 'spill'; the passes are inline, *" \
        "$spvfuse" opt k.ir $switch spill
done
expect 1 '' "*there is no pass or stage '\*'; *" native -stop-after '*'
expect 0 '; after assign*put.block(*x?0..0? = 1' '' "$spvfuse" run good.plan -dump-after assign
expect 2 '' '*kernels that are not compiled cannot run*' \
    "$spvfuse" run good.plan -stop-after assign
expect 0 'inline *Stages of native code*legalize *select *spill *emit *Of two passes*' '' \
    "$spvfuse" opt --list-passes

# ---- files that do not end, and that come in pieces
mkfifo pipe
endless='has more than 1073741824 bytes'
expect 1 '' "/dev/zero: error: $endless" "$spvfuse" info /dev/zero
{ echo 'buffer x i32[1]' && echo 'launch "/dev/zero":k global 1 args x'; } >endless.plan
expect 1 '' "endless.plan:2:8: error: /dev/zero: $endless" "$spvfuse" run endless.plan
cat k.ir >pipe &
expect 0 'target 64*' '' "$spvfuse" opt pipe
expect 0 'target 64*' '' "$spvfuse" opt - <k.ir
expect 0 'target 64*' '' "$spvfuse" opt /dev/stdin <k.ir

# ---- standard output
full() { "$@" >/dev/full; }
for command in 'info k.ir' 'info --json k.ir' 'run good.plan' devices 'opt k.ir' --help; do
    # shellcheck disable=SC2086
    expect 1 '' 'standard output: error: cannot be written*' full "$spvfuse" $command
done

# ---- help: descriptions are in one column, whatever the bytes of a character
expect 0 '*
  -p, --passes P1,P2,…       passes to run*
      --verify-each          check the IR*' '' "$spvfuse" opt --help

# ---- info
expect 1 '' 'empty.spv: error: the module is empty' "$spvfuse" info empty.spv
expect 0 "*refused: it calls 'far': imported without a definition*" '' \
    "$spvfuse" info broken.ir
expect 0 "*\"refusal\":\"it calls 'far': imported without a definition\"*" '' \
    "$spvfuse" info --json broken.ir
expect 0 '*"name":"a\\ufffdbé"*' '' "$spvfuse" info --json name.ir

# ---- layouts
cat >closure.ir <<'IR'
target 64
struct "acc" = {ptr.global, i64}
func @init(%self: ptr.private, %p: ptr.global, %n: i64) export {
entry:
  store %p, %self align 8
  ret
}
kernel @k(%s: ptr.private byval(24) align 8 of {i32, {ptr.global, i64}}) {
entry:
  %n: i32 = load %s align 4
  %1: ptr.private = ptradd %s, 8
  %p: ptr.global = load %1 align 8
  store %n, %p align 4
  ret
}
IR
printf 'layout drop\nspecial "acc" init @init\n' >k.layout
printf 'special "other" init @init\n' >wrong.layout
printf 'special acc init @init\n' >broken.layout
printf 'layout\0' >zero.layout
expect 0 'kernel k*0, byte 0: value, 4 bytes*0, byte 8: buffer 0 of special 0, write-only*2 unused parts of structs dropped*' '' \
    "$spvfuse" info -O --layout k.layout closure.ir
expect 0 '*"space":"global","access":"write","used":true,"closure":0,"offset":8,"padding":false,"spilled":false,"special":0,"special_arg":0*"dropped":\[1,3\]*' '' \
    "$spvfuse" info -O --json --layout k.layout closure.ir
expect 0 'kernel k*0, byte 8: buffer*0, byte 16: value, 8 bytes*' '' "$spvfuse" info closure.ir
expect 0 '*special(0, 0)*' '' "$spvfuse" opt --layout k.layout closure.ir
expect 0 '*special(0, 0)*' '' "$spvfuse" compile -t ir -O0 --layout k.layout closure.ir
expect 1 '' "*layout-mismatch: the module has no structure 'other'*" \
    "$spvfuse" info --layout wrong.layout closure.ir
expect 1 '' "broken.layout:1:9: error: expected the name of a structure, found 'acc'" \
    "$spvfuse" opt --layout broken.layout closure.ir
expect 1 '' 'none.layout: error: cannot be read*' "$spvfuse" info --layout none.layout closure.ir
expect 1 '' 'zero.layout: error: the text has a zero byte' \
    "$spvfuse" info --layout zero.layout closure.ir

# ---- kernels that cannot be used, with what else is said about them
cat >refused.ir <<'IR'
target 64
func @far() import
kernel @calls() {
entry:
  call @far()
  ret
}
kernel @waits() {
entry:
  barrier device device seq_cst global
  ret
}
kernel @large(%p: ptr.global of i32) {
entry:
  %a: ptr.private = alloca [9000000 x i8] align 4
  %i: i64 = global_id 0
  %q: ptr.private = ptradd %a, %i
  store i8 1, %q align 1
  %v: i32 = load %a align 4
  store %v, %p align 4
  ret
}
IR
refused() { { echo 'buffer x i32[64] = 0' && echo "launch \"refused.ir\":$*"; } >refused.plan; }
expect 1 '' "*kernel 'calls' is left out: it calls 'far'*kernel 'waits' is left out: it cannot run*\
*kernel 'large' is left out: private memory has more than *no kernel is left" \
    "$spvfuse" compile refused.ir -t x86_64 -o none.o
expect 0 '' "*kernel 'calls' is left out: it calls 'far'*" \
    "$spvfuse" compile refused.ir -t spirv -o some.spv
cat >initial.ir <<'IR'
target 64
@used: local i32 align 4 = 9
@table: const i32 align 4 export = 7
kernel @k(%p: ptr.global of i32) {
entry:
  %v: i32 = load @used align 4
  store %v, %p align 4
  ret
}
kernel @j(%p: ptr.global of i32) {
entry:
  store i32 9, %p align 4
  ret
}
func @f(%x: i32): i32 export {
entry:
  ret %x
}
IR
expect 0 '' "*kernel 'k' is left out: variable 'used': local memory has no initial value" \
    "$spvfuse" compile initial.ir -p dce -t spirv -o some.spv
expect 0 '*@table: const i32*kernel @j(*func @f(*' '' "$spvfuse" compile some.spv -O0 -t ir
sed '/^kernel @j/,/^}/d' initial.ir >initial_only.ir
expect 1 '' "*kernel 'k' is left out: *error: no kernel is left" \
    "$spvfuse" compile initial_only.ir -p dce -t spirv -o none.spv
for kernel in 'calls global 64' 'large global 64 args x'; do
    refused "$kernel"
    expect 1 '' "*refused.plan:2:8: error: kernel '${kernel%% *}'*" "$spvfuse" run refused.plan
done
refused 'calls global 64'
expect 1 '' "*error: kernel 'calls': it calls 'far'*" "$spvfuse" run refused.plan -d check

# ---- fuse
expect 0 'target 64*kernel @a(*' 'two.plan:7:6: warning: not fused: different local sizes*' \
    "$spvfuse" fuse two.plan -t ir
expect 1 '' '*warning: not fused: different local*two.plan: error: group ?b? was not fused' \
    "$spvfuse" fuse two.plan -t ir --strict
expect 1 '' '*wrong.plan: error: group ?*? was not fused' "$spvfuse" fuse wrong.plan

# ---- explain
expect 0 '4 launches become *group a: fused*0: @put on {64/16}*p: argument 0*group b: not*?fuse.request?*cure: *' '' \
    "$spvfuse" explain -v two.plan
expect 0 '*b is not fused: *?fuse.request?*a: @put (2 times) become one kernel*b: @put (2 times) are not*cure: *' '' \
    "$spvfuse" explain two.plan
expect 1 '*group b: not fused*' 'two.plan: error: group ?b? was not fused' \
    "$spvfuse" explain -v two.plan --strict
expect 0 '*work-groups depend on each other: @write (*:7)*cure: end the group*' '' \
    "$spvfuse" explain -v turn.plan
expect 1 '*not fused*' '*error: not fused: work-groups*error: group ?*? was not fused' \
    "$spvfuse" explain -v strict.plan
expect 0 '*"file":"a?"b??c?u0009.cl","line":7,"column":2*' '' "$spvfuse" explain turn.plan --json
expect 0 '*"global":?"1152921504606846976"?*' '' "$spvfuse" explain huge.plan --json
expect 0 '{"groups":??}' '' "$spvfuse" explain good.plan --json
read_by_program() { "$spvfuse" "$@" 2>/dev/null | "$json"; }
for command in 'explain two.plan' 'explain turn.plan' 'explain huge.plan' 'explain good.plan' \
    'run good.plan' 'info k.ir' 'info name.ir' 'info broken.ir' devices; do
    # shellcheck disable=SC2086
    expect 0 '' '' read_by_program $command --json
done

# ---- containers
{ echo 'target 64' && echo 'func @five(): i32 export {' && printf 'entry:\n  ret i32 5\n}\n'; } >five.ir
{ echo 'target 64' && echo 'func @five(): i32 import'
    echo 'kernel @take(%p: ptr.global of i32) {' && printf 'entry:\n  %%v: i32 = call @five()\n'
    printf '  store %%v, %%p align 4\n  ret\n}\n'; } >take.ir
expect 0 '' '' "$spvfuse" pack k.ir local.ir -o c.spvc --set id=7
expect 0 'image 0 k.ir: spirv, *image 1 local.ir: spirv, *kernel put*in image 0*container: id = 7' '' \
    "$spvfuse" inspect c.spvc
expect 0 'kernel put*kernel get*' '' "$spvfuse" info c.spvc
expect 0 'images/0-k.ir.spv?images/1-local.ir.spv' '' "$spvfuse" unpack c.spvc -o images
expect 0 'kernel put*' '' "$spvfuse" info images/0-k.ir.spv
expect 0 '' '' "$spvfuse" pack -t x86_64:v2,x86_64:v3 k.ir -o levels.spvc
expect 0 '*image 1 k.ir:x86_64:v2: object for x86_64:v2*image 2 *: object for x86_64:v3*' '' \
    sh -c 'cat levels.spvc | "$0" inspect -' "$spvfuse"
expect 0 '*in image 0, 1, 2*' '' "$spvfuse" inspect levels.spvc
"$spvfuse" compile k.ir -t x86_64:v4 -o k.o
"$spvfuse" compile k.ir -t spirv -o k.spv
expect 0 '' '' "$spvfuse" pack x86_64:v4=k.o k.spv -o levels.spvc
expect 0 'image 0 k.o: object for x86_64:v4*image 1 k.spv: spirv*in image 0, 1*' '' \
    "$spvfuse" inspect levels.spvc
expect 0 'object-id=*generator=spvfuse*{.images*}.put*' '' "$spvfuse" pack k.ir --hcf
"$spvfuse" pack k.ir --hcf -o k.hcf
for file in c.spvc k.hcf; do
    sed "s/k.ir/$file/" good.plan >packed.plan
    expect 0 'x?0..0? = 1' '' "$spvfuse" run packed.plan
    expect 0 '' '' read_by_program inspect $file --json
done
expect 0 '' '' "$spvfuse" unpack c.spvc --hcf -o again.hcf
expect 0 'kernel put*kernel get*' '' "$spvfuse" info again.hcf
expect 0 '' '' "$spvfuse" pack five.ir take.ir -o both.spvc
expect 0 '*image 0 exports five*image 1 imports five*' '' "$spvfuse" inspect both.spvc
expect 0 '' '' "$spvfuse" pack five.ir take.ir --link -o linked.spvc
expect 0 'image 0 linked: spirv*' '' "$spvfuse" inspect linked.spvc
head -c 100 c.spvc >cut.spvc
expect 1 '' 'cut.spvc: error: byte 0x10, header: size *, where there are 100 bytes' \
    "$spvfuse" inspect cut.spvc
expect 1 '' '*x: error: cannot be read*' "$spvfuse" pack k.ir x -o c.spvc
expect 1 '' '*good.plan: it is neither a container nor code that is known*' "$spvfuse" pack good.plan
expect 2 '' '*-o is needed*' "$spvfuse" unpack c.spvc
expect 2 '' 'spvfuse pack: ?TARGET=?FILE… is missing*usage: spvfuse pack *' "$spvfuse" pack

# ---- run
expect 0 'x?0..0? = 1' '' "$spvfuse" run good.plan
expect 1 '*' '*no end after 1 instructions of the work-group*' "$spvfuse" run good.plan --limit 1
expect 1 '*' '*no end after 1 instructions of the work-group*' \
    "$spvfuse" run good.plan -d check --limit 1
expect 1 '' "*unknown option 'v9' of device cpu*" "$spvfuse" run good.plan -d cpu:v9
expect 0 'x?0..0? = 1' "warning: SPVFUSE_CPU is 'v2,v9', which is not understood from 'v9' on: it takes*" \
    env SPVFUSE_CPU=v2,v9 "$spvfuse" run good.plan
expect 0 'x?0..0? = 1' "warning: SPVFUSE_LOG is 'loud', which is not understood: it takes one of warn, info, all" \
    env SPVFUSE_LOG=loud "$spvfuse" run good.plan
for name in gpu check:fast opencl:x opencl:100 opencl: cuda:x cuda:; do
    expect 1 '' "*unknown device '$name': check, cpu, cpu:OPTION,OPTION …, opencl, opencl:N, cuda, cuda:N*" \
        "$spvfuse" run good.plan -d "$name"
done

# ---- bench
{ buffers && first && launch k.ir 16; } >bench.plan
expect 0 'a: 2 launches, median of *unfused*fused*times as fast*made in*put: 1 launches*' '' \
    "$spvfuse" bench bench.plan
expect 0 'a: 2 launches, median of *' '' "$spvfuse" bench bench.plan -d check
expect 0 '' '' read_by_program bench bench.plan --json

if "$spvfuse" devices | grep -q '^opencl:0 .*[^)]$'; then
    expect 0 'x?0..0? = 1' '' "$spvfuse" run -d opencl good.plan
    expect 1 '' "narrow.plan:2:8: error: opencl: 'narrow.ir' has pointers of 32 bits, *" \
        "$spvfuse" run -d opencl narrow.plan
    expect 1 '' "local.plan:2:8: error: opencl: kernel 'get': argument 1 has more local memory *" \
        "$spvfuse" run -d opencl local.plan
fi

if "$spvfuse" devices | grep -q '^cuda:0'; then
    expect 0 'x?0..0? = 1' '' "$spvfuse" run -d cuda good.plan
    expect 1 '' "*cuda: there is no device 63*" "$spvfuse" run -d cuda:63 good.plan
else
    expect 1 '' "*cuda: there is no driver (libcuda.so.1)*" "$spvfuse" run -d cuda good.plan
fi

finish

#!/bin/sh
# command.sh BUILD: the command and device cuda on a driver without a GPU: why a device is not there,
# plans, processes that share code, and cubins where there is an assembler.
set -u
spvfuse=$PWD/$1/spvfuse
driver=$PWD/$1/tests/runtime/devices/cuda
bench=$PWD/$1/bench
plan=$PWD/tests/runtime/cache/pair.plan
corpus=$PWD/$1/corpus
plans=$PWD/tests/corpus
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1
export SPVFUSE_CACHE_DIR="$work/cache"
unset SPVFUSE_CACHE

# With the driver, and with a folder in which its library is something else.
gpu() { env LD_LIBRARY_PATH="$driver" "$@"; }

# says TEXT COMMAND…: a test that passes when the output has a line like that.
says() {
    text=$1
    shift
    if "$@" 2>&1 | grep -q -- "$text"; then passed; else failed "$*: not '$text': $("$@" 2>&1)"; fi
}

# ---- why not
says '^cuda:0 *Fake GPU 0' gpu "$spvfuse" devices
says '^cuda:1 *Fake GPU 1' gpu env FAKE_CUDA_DEVICES=2 "$spvfuse" devices
check 'a device that is missing is not listed' \
    sh -c "LD_LIBRARY_PATH=$driver FAKE_CUDA_DEVICES=0 $spvfuse devices | grep -c cuda | grep -qx 0"
says '^cuda .*not usable: the driver has no device)' \
    gpu env FAKE_CUDA_DEVICES=0 "$spvfuse" devices -v
says '^cuda .*the driver does not start: CUDA_ERROR_NO_DEVICE (100: ' \
    gpu env FAKE_CUDA_FAIL=cuInit:1:100 "$spvfuse" devices -v
says '"why_not":"the driver does not start: CUDA_ERROR_NO_DEVICE' \
    gpu env FAKE_CUDA_FAIL=cuInit:1:100 "$spvfuse" devices -v --json
says '^cuda:0 .*not usable: it is older than sm_70)' gpu env FAKE_CUDA_SM=61 "$spvfuse" devices
mkdir old
echo 'int cuInit(unsigned flags) { return (int)flags; }' >old.c
gcc -shared -fPIC -o old/libcuda.so.1 old.c
says '^cuda .*the driver is too old: it has no cuDriverGetVersion)' \
    env LD_LIBRARY_PATH="$work/old" "$spvfuse" devices -v

# ---- plans
cp "$bench/saxpy.spv" "$bench/scale.spv" .
sed '/^expect/d' "$plan" >pair.plan # the driver computes nothing
calls() { grep -c "^$1\$" log; }
says 'cuda: the driver is too old' env LD_LIBRARY_PATH="$work/old" "$spvfuse" run -d cuda pair.plan
check 'a plan runs' gpu env FAKE_CUDA_LOG=log "$spvfuse" run -d cuda pair.plan
check 'as one launch' [ "$(calls cuLaunchKernelEx)" = 1 ]
check 'that was compiled' [ "$(calls cuLinkAddData_v2)" = 1 ]
rm log
check 'another process' gpu env FAKE_CUDA_LOG=log "$spvfuse" run -d cuda pair.plan
check 'compiles nothing' [ "$(calls cuLinkAddData_v2)" = 0 ]
check 'and loads one module' [ "$(calls cuModuleLoadData)" = 1 ]
says 'cuda: .*CUDA_ERROR_ILLEGAL_ADDRESS), in ' \
    gpu env FAKE_CUDA_FAIL=kernel:1:700 "$spvfuse" run -d cuda pair.plan
says 'cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY' \
    gpu env FAKE_CUDA_FAIL=cuMemAlloc_v2:2:2 "$spvfuse" run -d cuda pair.plan
check 'the cache is whole' "$spvfuse" cache verify

# ---- facts: eight values have code of their own, the ninth one has not; only a large launch is worth code
# for arguments that are apart
cat >facts.ir <<'IR'
target 64
kernel @k(%x: ptr.global of i32, %y: ptr.global of i32, %n: i32 specialized) {
entry:
  %i: i64 = global_id 0
  %o: i64 = shl %i, 2
  %p: ptr.global = ptradd %x, %o
  %q: ptr.global = ptradd %y, %o
  %v: i32 = load %p align 4
  %r: i32 = mul %v, %n
  store %r, %q align 4
  ret
}
IR
{
    printf 'buffer x i32[1048576]\nbuffer y i32[1048576]\n'
    for n in 1 2 3 4 5 6 7 8; do echo "launch \"facts.ir\":k global 64 args x, y, $n"; done
    echo 'launch "facts.ir":k global 1048576 args x, y, 1'
    echo 'launch "facts.ir":k global 64 args x, y, 9'
} >facts.plan
# launches NAME: in `result`.
launches() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" result; }
# count OPTIONS LAUNCHES APART SPECIALIZED VARIANTS
count() {
    gpu "$spvfuse" run -d "cuda$1" facts.plan --json >result
    check "facts of cuda$1: launches" [ "$(launches native_launches)" = "$2" ]
    check "facts of cuda$1: apart" [ "$(launches apart)" = "$3" ]
    check "facts of cuda$1: specialized" [ "$(launches specialized)" = "$4" ]
    check "facts of cuda$1: variants" [ "$(launches variants)" = "$5" ]
    check "facts of cuda$1: no other" [ "$(launches values)$(launches streams)" = 00 ]
}
count '' 10 1 9 10
count :without=apart 10 0 9 10
count :without=specialized 10 1 0 2
count :without=all 10 0 0 2
says '^native launches 10, variants 10 in [0-9.]* ms, made for: apart 1, specialized 9$' \
    gpu "$spvfuse" run -d cuda facts.plan --times

# ---- groups that wait for each other: what a phase writes is not read past the coherent cache
cp "$corpus/clang15-O2/cross_group.spv" "$plans/cross_group_phases.plan" .
"$spvfuse" fuse cross_group_phases.plan --group reversal -t ir -o reversal.ir
"$spvfuse" compile reversal.ir -t ptx:sm_90,disjoint,together -o reversal.ptx
check 'one buffer is only read' [ "$(grep -c 'ld\.global\.nc' reversal.ptx)" = 1 ]
check 'the other one is read after the barrier' \
    [ "$(sed '1,/atom.acq_rel/d' reversal.ptx | grep -c 'ld\.global\.b32')" = 1 ]

# ---- how phases run, and why
few='2 phases are a launch each: that costs less for so few \[phase.few\]'
sed '/^expect/d' cross_group_phases.plan >phases.plan
run_phases() { gpu "$spvfuse" run -d "$@"; }
says "^phases.plan:14:6: note: @reversal: $few" run_phases cuda phases.plan -v
says "^@reversal, 1 launches: $few" run_phases cuda phases.plan --times
says '"kernel":"reversal","phases":2,"launches":1,"together":false,"rule":"phase.few"' \
    run_phases cuda phases.plan --json
says '"kernel":"reversal","phases":2,"launches":1,"together":true,"rule":"phase.together"' \
    run_phases cuda:phases=together phases.plan --json
says '"phases":\[\]' run_phases cuda pair.plan --json
says '"phases":\[\]' "$spvfuse" run phases.plan --json
check 'with a trace' run_phases cuda phases.plan --trace trace.json
says '"in phases".*"spvfuse.kernel.name":"reversal".*"spvfuse.phase.rule":"phase.few"' cat trace.json
says "^  $few" gpu "$spvfuse" explain -d cuda phases.plan
says "^  $few" gpu "$spvfuse" explain -d cuda phases.plan -v
says '^    cure: try' gpu "$spvfuse" explain -d cuda phases.plan -v
says '^  2 phases are one launch: 4 groups, and there is room for' \
    gpu "$spvfuse" explain -d cuda:phases=together phases.plan
says '"rule":"phase.few"' gpu "$spvfuse" explain -d cuda phases.plan --json
check 'no code of this machine' \
    sh -c "LD_LIBRARY_PATH=$driver $spvfuse explain -d cuda phases.plan --json | grep -q '\"code\":\\[\\]'"
check 'other devices have one way' sh -c "! $spvfuse explain phases.plan -v | grep -q phase[.]"
says "unknown device 'cud'" "$spvfuse" explain -d cud phases.plan

# ---- cubins
if command -v ptxas >/dev/null || [ -x /usr/local/cuda/bin/ptxas ]; then
    check 'a cubin' "$spvfuse" compile saxpy.spv -t cubin:sm_90 -o saxpy.cubin
    check 'in a container' "$spvfuse" pack saxpy.cubin -o saxpy.container
    says 'sm_90' "$spvfuse" inspect saxpy.container
    check 'made for one' "$spvfuse" pack saxpy.spv -t cubin:sm_90,ptx:sm_80 -o both.container
    says 'cubin for sm_90' "$spvfuse" inspect both.container
    says 'in image 0, 1, 2' "$spvfuse" inspect both.container
    check 'all that device cuda runs' "$spvfuse" pack saxpy.spv -t cuda:sm_90 -o all.container
    says 'image 8 saxpy.spv:cubin:sm_90,offset,disjoint,aligned,coarsen=4: cubin for sm_90' \
        "$spvfuse" inspect all.container
    says 'made-of' "$spvfuse" inspect all.container --json
    says 'unknown target .cubin:sm_x,offset' "$spvfuse" pack saxpy.spv -t cuda:sm_x -o x.container
    says 'ptxas says: .*sm_72' "$spvfuse" compile saxpy.spv -t cubin:sm_72 -o none.cubin
else
    check 'a cubin of the driver' gpu "$spvfuse" compile saxpy.spv -t cubin:sm_90 -o saxpy.cubin
    check 'which is not empty' [ -s saxpy.cubin ]
    says 'there is no ptxas in PATH, in CUDA_HOME or in /usr/local/cuda, and there is no driver' \
        "$spvfuse" compile saxpy.spv -t cubin:sm_90 -o none.cubin
fi
mkdir bin
# shellcheck disable=SC2016
cat >bin/ptxas <<'SH'
#!/bin/sh
echo "ptxas /dev/stdin, line 7; error   : no" >&2
exit 1
SH
chmod +x bin/ptxas
says 'bin/ptxas says: ptxas /dev/stdin, line 7; error' \
    env PATH="$work/bin:$PATH" "$spvfuse" compile saxpy.spv -t cubin -o none.cubin
check 'nothing is written' [ ! -e none.cubin ]
finish

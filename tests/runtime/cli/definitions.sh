#!/bin/sh
# definitions.sh BUILD: functions that are put together when a module is loaded, and queries about
# the device that become constants: by the command and in plans, fused and cached.
set -u
spvfuse=$PWD/$1/spvfuse
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1
export SPVFUSE_CACHE_DIR="$work/cache" SPVFUSE_CACHE=0
mkdir -m 700 "$work/cache"

cat >k.ir <<'IR'
target 64
kernel @k(%p: ptr.global of i32, %q: ptr.global of i32) {
entry:
  %g: i64 = global_id 0
  %o: i64 = shl %g, 2
  %a: ptr.global = ptradd %p, %o inbounds
  %b: ptr.global = ptradd %q, %o inbounds
  %v: i32 = load %a align 4
  %w: i32 = call @choose(%v)
  store %w, %b align 4
  call @all(%b, %w)
  ret
}
func @choose(%x: i32): i32 import
func @all(%p: ptr.global readonly, %x: i32) noinline {
entry:
  ret
}
func @twice(%x: i32): i32 {
entry:
  %y: i32 = shl %x, 1
  ret %y
}
func @same(%x: i32): i32 {
entry:
  ret %x
}
func @add(%p: ptr.global, %x: i32) {
entry:
  %v: i32 = load %p align 4
  %w: i32 = add %v, %x
  store %w, %p align 4
  ret
}
func @negate(%p: ptr.global, %x: i32) {
entry:
  %v: i32 = load %p align 4
  %w: i32 = sub i32 0, %v
  store %w, %p align 4
  ret
}
func @wide(%x: i64): i64 {
entry:
  ret %x
}
func @again(%x: i32): i32 {
entry:
  %y: i32 = call @choose(%x)
  ret %y
}
func @missing(%x: i32): i32 import
func @more(%x: i32, %y: i32): i32 {
entry:
  ret %y
}
IR

# plan WANT DEFINITIONS: a launch, of which q[3] is wanted.
plan() {
    cat >k.plan <<PLAN
buffer p i32[64] = iota
buffer q i32[64]
launch "k.ir":k global 64 $2 args p, q
expect q[3] = $1
PLAN
    for device in check cpu; do "$spvfuse" run -d "$device" k.plan || return 1; done
}
check "one function" plan 6 "define choose = twice"
check "another one" plan 3 "define choose = same"
check "of a function with a body" plan 12 "define choose = twice define all = add"
check "two functions" plan -12 "define choose = twice define all = add, negate"
check "in the other order" plan 0 "define choose = twice define all = negate, add"
check "one function twice" plan 9 "define choose = same define all = add, add"
check "names in quotes" plan 9 'define "choose" = "same" define all = "add", add'

# fails TEXT DEFINITIONS
fails() {
    ! plan 0 "$2" >text 2>&1 || return 1
    grep -qF -- "$1" text || { cat text; return 1; }
}
check "no function" fails "definition: there is no function 'x'" "define x = same"
check "no called function" fails "definition: there is no function 'x'" "define choose = x"
check "a kernel" fails "definition: 'k' is a kernel" "define k = same"
check "a called kernel" fails "definition: 'k' is a kernel" "define choose = k"
check "another type" fails "definition: 'wide' has parameter 0 of type i64, want i32" "define choose = wide"
check "another number" fails "definition: 'more' has 2 parameters, want 1 as 'choose'" "define choose = more"
check "another result" fails "definition: 'add' has 2 parameters, want 1" "define choose = add"
check "a result of several" fails "definition: 'choose' has a result, so it calls one function, not 2" "define choose = same, twice"
check "itself" fails "definition: 'choose' cannot call itself" "define choose = choose"
check "no body" fails "definition: 'missing' has no body" "define choose = missing"
check "recursion" fails "recursion is not supported" "define choose = again"
check "no definition" fails "it calls 'choose': imported without a definition" ""

# Fused, and each definition is a module, and a kernel in the cache, of its own.
cat >pair.plan <<'PLAN'
buffer p i32[64] = iota
buffer t i32[64] internal
buffer q i32[64]
fuse pair strict {
  launch "k.ir":k global 64 define choose = twice args p, t
  launch "k.ir":k global 64 define choose = same define all = add args t, q
}
expect q[3] = 12
PLAN
check "fused" "$spvfuse" run -d cpu pair.plan
check "validated" "$spvfuse" run --validate pair.plan
"$spvfuse" run -d cpu pair.plan --times 2>text
check "--times" grep -q '^defined functions 3$' text
"$spvfuse" run -d cpu pair.plan --json >result
check "JSON" grep -q '"definitions":3,' result
export SPVFUSE_CACHE=1
check "cached" plan 6 "define choose = twice"
check "cached apart" plan 3 "define choose = same"
check "found" plan 6 "define choose = twice"
check "two entries" sh -c '"$0" cache stats --json | grep -q "\"entries\":2,"' "$spvfuse"
export SPVFUSE_CACHE=0

# The command.
"$spvfuse" opt k.ir --define choose=twice --define all=add,negate >text 2>&1
check "opt" grep -q 'sub 0, ' text
"$spvfuse" opt k.ir --define choose=twice --define all= >text 2>&1
check "no calls" sh -c '! grep -q "add @all\|refused" text'
"$spvfuse" info k.ir --define choose=same >text 2>&1
check "info" sh -c '! grep -q refused text'
check "compile" "$spvfuse" compile k.ir --define choose=same -t x86_64 -o k.o
long=$(printf '%05000d' 0)
"$spvfuse" info k.ir --define "choose=$long" >text 2>&1
check "too long" grep -q "^spvfuse: there is no room for --define 'choose=0000" text
check "no sign" sh -c '! "$0" info k.ir --define choose 2>text' "$spvfuse"
"$spvfuse" info k.ir --specialize k:p >text 2>&1
check "--specialize" grep -q "argument 0 of kernel 'k' cannot be specialized: it is no value" text

# Queries: a kernel that stores the answers.
queries() {
    n=0
    while read -r type call; do
        echo "  %q$n: $type = call @$call"
        value=%q$n
        [ "$type" = i32 ] || { value=%v$n && echo "  $value: i32 = zext %q$n"; }
        echo "  %p$n: ptr.global = ptradd %p, i64 $((4 * n))"
        echo "  store $value, %p$n align 4"
        n=$((n + 1))
    done <list
}
cat >list <<'END'
i1 __acpp_sscp_jit_reflect_target_is_cpu()
i1 __acpp_sscp_jit_reflect_target_is_gpu()
i32 __acpp_sscp_jit_reflect_runtime_backend()
i32 __acpp_sscp_s2_reflect_compiler_backend()
i1 __acpp_sscp_jit_reflect_knows_target_is_cpu()
i1 __acpp_sscp_jit_reflect_knows_the_future()
i32 __acpp_sscp_jit_reflect_target_arch()
i32 __nvvm_reflect(@arch)
i32 __nvvm_reflect(@ftz)
END
{
    printf 'target 64\n@arch: const [12 x i8] constant = "__CUDA_ARCH\\x00"\n'
    printf '@ftz: const [11 x i8] constant = "__CUDA_FTZ\\x00"\n'
    printf 'kernel @k(%%p: ptr.global of i32) {\nentry:\n'
    queries
    printf '  ret\n}\nfunc @__nvvm_reflect(%%p: ptr.const): i32 import\n'
    sed -n 's/^\(.*\) \(.*()\)$/func @\2: \1 import/p' list
} >r.ir
cat >r.plan <<'PLAN'
buffer p i32[9]
launch "r.ir":k global 1 args p
expect p[0..8] = 1, 0, 4, 3, 1, 0, 0, 0, 0
PLAN
for device in check cpu; do
    check "queries on $device" "$spvfuse" run -d $device r.plan
    "$spvfuse" run -d $device r.plan --json >result
    check "counted on $device" grep -q '"answers":9,' result
done
"$spvfuse" run -d cpu r.plan --times 2>text
check "--times" grep -q '^answered queries 9$' text
"$spvfuse" run -d cpu:without=reflection r.plan 2>text
check "turned off" grep -q "it calls '__acpp_sscp_jit_reflect_target_is_cpu': imported" text
"$spvfuse" compile r.ir -t ptx:sm_86 >text 2>&1
check "PTX: an architecture" grep -q '860' text
cat >v.ir <<'IR'
target 64
kernel @k(%p: ptr.global) {
entry:
  %v: i32 = call @__acpp_sscp_jit_reflect_target_vendor_id()
  %k: i1 = call @__acpp_sscp_jit_reflect_knows_warp_size()
  br %k, known, end
known:
  %w: i32 = call @__acpp_sscp_jit_reflect_warp_size()
  jmp end
end:
  %size: i32 = phi [entry: 1, known: %w]
  %q: ptr.global = ptradd %p, 4
  store %v, %p align 4
  store %size, %q align 4
  ret
}
func @__acpp_sscp_jit_reflect_target_vendor_id(): i32 import
func @__acpp_sscp_jit_reflect_knows_warp_size(): i1 import
func @__acpp_sscp_jit_reflect_warp_size(): i32 import
IR
"$spvfuse" compile v.ir -t ptx:sm_86 >text 2>&1
check "PTX: the vendor" grep -q ' 4318;' text
check "PTX: the size of warps" grep -q ' 32;' text
check "PTX: no calls and no branches" sh -c '! grep -q "call\|bra\|setp" text'
case $(grep -m 1 vendor_id /proc/cpuinfo) in
*GenuineIntel) vendor=8086 ;;
*AuthenticAMD) vendor=1022 ;;
*) vendor= ;;
esac
cat >v.plan <<PLAN
buffer p i32[2]
launch "v.ir":k global 1 args p
expect p[0..1] = $vendor, 1
PLAN
[ -z "$vendor" ] || check "vendor $vendor, and no warps" "$spvfuse" run -d cpu v.plan
sed 's/knows_the_future/the_future/' r.ir >u.ir
"$spvfuse" compile u.ir -t x86_64 -o u.o 2>text
check "a query that nobody knows" grep -q "it calls '__acpp_sscp_jit_reflect_the_future'" text
finish

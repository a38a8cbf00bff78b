#!/bin/sh
# resident.sh BUILD: pass resident: a launch of 1, 3, 4 or 10 work-groups gives what the 10 of the range
# do, in one and two dimensions, and device check finds no fault.
set -u
spvfuse=$PWD/$1/spvfuse
here=$PWD/tests/passes/workgroup
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1
sed "/^;|/d" "$here/resident.ir" >all.ir
"$spvfuse" opt -p resident --verify-each all.ir -o one.ir 2>said

cat >planes.ir <<'IR'
target 64
kernel @planes(%x: ptr.global of i32, %y: ptr.global of i32) {
entry:
  %i: i64 = global_linear_id
  %g: i64 = group_id 1
  %o: i64 = shl %i, 2
  %px: ptr.global = ptradd %x, %o inbounds
  %v: i32 = load %px align 4
  %w: i32 = trunc %g
  store %w, %px align 4
  barrier device device seq_cst global
  %a: i64 = global_size 0
  %b: i64 = global_size 1
  %n: i64 = mul %a, %b
  %m: i64 = sub %n, %i
  %l: i64 = sub %m, 1
  %q: i64 = shl %l, 2
  %pq: ptr.global = ptradd %x, %q inbounds
  %t: i32 = load %pq align 4
  %s: i32 = add %t, %v
  %py: ptr.global = ptradd %y, %o inbounds
  store %s, %py align 4
  ret
}
IR
"$spvfuse" opt -p resident --verify-each planes.ir -o two.ir

# plan GROUPS KERNEL FILE SIZES: GROUPS of 8 items.
plan() {
    cat <<PLAN
buffer x i32[80] = iota
buffer y i32[80]
buffer kept i32[128]
launch "$3":$2 global $((8 * $1))$5 local 8$6 args x, y, kept, 0, 0, 0, 0, $4
PLAN
}
for groups in 1 3 4 10; do
    { plan $groups reverse one.ir '10, 1, 1, 8, 1, 1, 80, 1, 1' '' ''
        echo 'expect y[0..2] = 80, 80, 80'
        echo 'expect y[77..79] = 80, 80, 80'
        echo 'expect x[0..2] = 1, 2, 3'; } >one.plan
    check "$groups groups" "$spvfuse" run -d check one.plan
    # 2 groups of 4 x 2 along x, 5 along y: items 0 to 15 are in row 0 of groups.
    { plan $groups planes two.ir '2, 5, 1, 4, 2, 1, 8, 10, 1' '' '' |
        sed "s/global $((8 * groups)) local 8/global $((4 * groups)),2 local 4,2/"
        echo 'expect y[0..2] = 4, 5, 6'
        echo 'expect y[16..17] = 19, 20'
        echo 'expect y[79] = 79'; } >two.plan
    check "$groups groups of planes" "$spvfuse" run -d check two.plan
done
finish

/* command_kernels.cl — kernels of all kinds for random commands; command_kernels.h says what each
 * may be given. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define X get_global_id(0)
#define KERNEL kernel void
#define IN global const int *from
#define OUT global int *to
typedef struct { char a; short b; int c[3]; long d; int3 e; } all;
typedef struct { char a; short b[2]; int c; } record;
constant int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
global int total = 1;
KERNEL reset() { total = 1; }
KERNEL add(OUT, IN, int k) { to[X] = from[X] + k; }
KERNEL mix(OUT, IN, global const int *other) { to[X] = from[X] * 3 ^ other[X]; }
KERNEL some(OUT, IN, int k) { if (from[X] & 1) to[X] = k; }
KERNEL sum(OUT, IN) { to[X] += from[X]; }
KERNEL both(OUT, global int *to2, IN) { int x = from[X]; to[X] = x - 1; to2[X] += x; }
KERNEL loop(OUT, IN, int k) {
  int sum = k;
  for (int n = 0; n < (from[X] & 7); n++) sum = sum * 31 + n;
  to[X] = sum;
}
KERNEL leave(OUT, IN, int k) {
  if (from[X] > 0) return;
  for (int n = 0;; n++) if (((from[X] + n) & 15) == 3) { to[X] = n; return; }
}
KERNEL reverse(global int *restrict to, IN) {
  size_t o = get_global_offset(0);
  to[X] = from[2 * o + get_global_size(0) - 1 - X];
}
KERNEL scatter(OUT, global const int *restrict from, int k) {
  size_t o = get_global_offset(0), n = get_global_size(0);
  to[o + (X - o + (k & 63)) % n] = from[X];
}
KERNEL gather(OUT, IN, global const int *at) { to[X] = from[at[X] & 31]; }
KERNEL spread(OUT, IN) { to[X] = *from; }
KERNEL first(OUT, IN) { if (X == get_global_offset(0)) *to += *from; }
KERNEL count(OUT, IN) { atomic_add(&to[from[X] & 15], 1); }
KERNEL most(OUT, IN) { atomic_max(&to[X & 3], from[X]); }
KERNEL flip(volatile OUT, IN) { atomic_xor(&to[X & 3], from[X]); to[4] = 4; }
KERNEL own(OUT, IN) { to[X] = atomic_xchg(&to[X], from[X]) + 1; }
KERNEL table(OUT, IN) { to[X] = primes[from[X] & 7]; }
KERNEL total_add(IN) { atomic_add(&total, from[X]); }
KERNEL total_get(OUT) { to[X] = total; }
KERNEL structs(OUT, all s) { to[X] += s.a + s.b * s.c[2] + (int)s.d + s.e.z; }
KERNEL three(OUT, IN, int k) {
  if (X < 16) vstore3(vload3(X, from) * 3 + (int3)(1, 2, k), X, to);
}
KERNEL bytes(OUT, global const uchar4 *from) {
  uchar4 v = from[X].wzxy;
  ((global uchar4 *)to)[X] = v + (uchar4)1;
}
KERNEL invert(OUT) { ((global uchar4 *)to)[X] = ~((global uchar4 *)to)[X]; }
KERNEL chars(OUT, global const uchar4 *from) { ((global uchar4 *)to)[X] ^= from[X].yxwz; }
KERNEL shorts(OUT, global const short2 *from, int k) {
  ((global short2 *)to)[X] += from[X];
  ((global short2 *)to)[X] *= (short2)k;
}
KERNEL fours(OUT, IN, int k) {
  if (X < 16) vstore4(vload4(X, to) - (vload4(X, from) & k), X, to);
}
KERNEL beside(OUT, IN) {
  ((global short2 *)to)[X] |= as_short2(from[X]);
  atomic_add(&to[X], from[X]);
  ((global short2 *)to)[X] -= (short2)(1, 2);
}
KERNEL triples(OUT) {
  if (X < 21) vstore3(vload3(X, (global short *)to).zxy + (short3)(1, 2, 3), X, (global short *)to);
}
KERNEL records(OUT, IN) {
  if (X >= 10) return;
  record r = ((global record *)to)[X];
  r.c ^= from[X];
  r.b[from[X] & 1] += 3;
  ((global record *)to)[X] = r;
}
KERNEL member(OUT, IN) { if (X < 10) ((global record *)to)[X].b[1] -= from[X]; }
KERNEL lane(OUT, IN) { ((global uchar4 *)to)[X].y = from[X]; }
KERNEL choose(OUT, global int *to2, IN) { (from[X] & 2 ? to : to2)[X] = from[X] + 5; }
KERNEL cases(OUT, IN, int k) {
  switch (from[X] & 0x80000001) {
  case 0: to[X] = k; break;
  case 1: to[X] += k;
  case 0x80000000: to[X] ^= 5;
  }
}
KERNEL least(OUT, IN) { atomic_min(&to[X & 7], from[X]); }
KERNEL half_bytes(OUT, IN) {
  ushort h[2];
  vstore_half((float)(from[X] & 0xffff) / 7, X & 1, (half *)h);
  to[X] = h[X & 1];
}
KERNEL plane(OUT, IN) {
  size_t i = (get_global_id(2) * 4 + get_global_id(1)) * 4 + X;
  to[i] = from[i] - (int)get_global_id(1);
}
KERNEL groups(OUT, IN, local int *scratch) {
  int l = get_local_id(0), n = get_local_size(0), sum = 0;
  scratch[l] = from[X];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < n; k++) sum = sum * 3 + scratch[k];
  to[X] = sum;
}
KERNEL rotate_group(OUT, IN) {
  local int tile[64];
  int l = get_local_id(0), n = get_local_size(0);
  tile[l] = from[X];
  barrier(CLK_LOCAL_MEM_FENCE);
  to[X] = tile[(l + 1) % n];
}
KERNEL neighbour(OUT) {
  int l = get_local_id(0), n = get_local_size(0), x = to[X + (l + 1) % n - l];
  barrier(CLK_GLOBAL_MEM_FENCE);
  to[X] = x + 1;
}
KERNEL scan(OUT, IN) { to[X] = work_group_scan_inclusive_add(from[X]); }
KERNEL ids(OUT) {
  to[X] = get_local_id(0) + 100 * get_group_id(0) + 10000 * get_num_groups(0) +
          1000000 * get_local_size(0) + get_global_size(0) + get_enqueued_local_size(0);
}
KERNEL __attribute__((reqd_work_group_size(8, 1, 1))) eights(OUT, IN) {
  to[X] = from[X] + work_group_reduce_add(from[X]) * get_group_id(0);
}
KERNEL product(global float *to, global const float *from, global const float *other) {
  to[X] = from[X] * other[X];
}
KERNEL plus(global float *to, global const float *from, global const float *other) {
  to[X] = from[X] + other[X];
}
KERNEL quotient(global float *to, global const float *from, global const float *other) {
  to[X] = sqrt(from[X] / (other[X] + 1));
}
KERNEL wide(global double *to, global const double *from, global const float *other) {
  to[X] = from[X] * other[X] + 1;
}
KERNEL narrow(global float *to, global const double *from) { to[X] = from[X]; }
KERNEL lead(OUT, IN) {
  if (X < 40)
    if (get_local_id(0) == 0) to[get_group_id(0)] = from[X];
}
KERNEL rounds(OUT, IN, int k) {
  local int tile[64];
  int l = get_local_id(0), n = get_local_size(0), v = from[X];
  for (int r = 0; r < (k & 3); r++) {
    tile[l] = v + r;
    barrier(CLK_LOCAL_MEM_FENCE);
    v += tile[(l + r + 1) % n];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  to[X] = v;
}
KERNEL fetch(OUT, IN, local int *scratch) {
  int l = get_local_id(0), n = get_local_size(0);
  event_t e = async_work_group_copy(scratch, from + get_group_id(0) * n, n, 0);
  wait_group_events(1, &e);
  to[X] = scratch[n - 1 - l];
}
KERNEL bring(OUT, IN, local int *scratch) {
  int n = get_local_size(0);
  scratch[get_local_id(0)] = ~from[X];
  barrier(CLK_LOCAL_MEM_FENCE);
  event_t e = async_work_group_copy(to + get_group_id(0) * n, scratch, n, 0);
  wait_group_events(1, &e);
}
KERNEL wrapped(OUT, IN) {
  uint i = (uint)X * 0x40000001u & 0x3fffffff;
  to[i] = from[(uchar)X] - (int)(i - X);
}
KERNEL strided(OUT, IN) {
  size_t o = get_global_offset(0);
  for (size_t n = X - o; n < 120; n += get_global_size(0)) to[n] = from[n + 1];
}
KERNEL publish(OUT, IN) {
  volatile global atomic_int *at = (volatile global atomic_int *)to;
  atomic_store_explicit(at + X, from[X], memory_order_relaxed, memory_scope_device);
}
KERNEL obtain(OUT, IN) {
  volatile global atomic_int *at = (volatile global atomic_int *)from;
  to[X] = atomic_load_explicit(at + (X & 7), memory_order_relaxed, memory_scope_device);
}
KERNEL some_generic(OUT, IN) {
  int own = from[X];
  int *p = own & 1 ? &own : (int *)(to + X);
  *p += 3;
  to[X] ^= own;
}
KERNEL votes(OUT, IN) {
  int any = work_group_any(from[X] & 1);
  if (any) to[X] = work_group_scan_exclusive_max(from[X]) + work_group_broadcast(from[X], 0);
}

/* groups.c — what the items of groups and sub-groups of many sizes do together, next to the host. */
#include "tests/device/device.h"

enum { GROUPS = 3, MOST = 1024, ANSWERS = 10 };

static const char text[] =
    "target 64\n"
    "kernel @k(%in: ptr.global of i32, %out: ptr.global of i32, %l: ptr.local of i32) {\n"
    "entry:\n"
    "  %i: i64 = global_id 0\n"
    "  %ib: i64 = shl %i, 2\n"
    "  %pi: ptr.global = ptradd %in, %ib inbounds\n"
    "  %x: i32 = load %pi align 4\n"
    "  %id: i64 = local_id 0\n"
    "  %n: i64 = local_size 0\n"
    "  %a0: i32 = group_add %x workgroup reduce\n"
    "  %a1: i32 = group_add %x workgroup inclusive\n"
    "  %a2: i32 = group_smax %x workgroup exclusive\n"
    "  %t: i1 = eq %x, i32 7\n"
    "  %v: i1 = group_any %t workgroup\n"
    "  %a3: i32 = zext %v\n"
    "  %a4: i32 = group_add %x subgroup reduce\n"
    "  %a5: i32 = group_umin %x subgroup inclusive\n"
    "  %a6: i32 = group_shuffle_xor %x, i32 1 subgroup\n"
    "  %a7: i32 = subgroup_id\n"
    "  %a8: i32 = subgroup_max_size\n"
    "  %lb: i64 = shl %id, 2\n"
    "  %pl: ptr.local = ptradd %l, %lb inbounds\n"
    "  store %x, %pl align 4\n"
    "  barrier workgroup workgroup acq_rel local\n"
    "  %m: i64 = sub %n, 1\n"
    "  %r: i64 = sub %m, %id\n"
    "  %rb: i64 = shl %r, 2\n"
    "  %pr: ptr.local = ptradd %l, %rb inbounds\n"
    "  %a9: i32 = load %pr align 4\n"
    "  %ob: i64 = mul %i, 40\n"
    "  %o: ptr.global = ptradd %out, %ob inbounds\n";

/* The text with the stores. */
static const char *whole_text(void) {
    static char all[8192];
    size_t n = (size_t)snprintf(all, sizeof all, "%s", text);
    for (unsigned k = 0; k < ANSWERS; k++)
        n += (size_t)snprintf(all + n, sizeof all - n,
                              "  %%q%u: ptr.global = ptradd %%o, %u inbounds\n"
                              "  store %%a%u, %%q%u align 4\n",
                              k, 4 * k, k, k);
    snprintf(all + n, sizeof all - n, "  ret\n}\n");
    return all;
}

static uint32_t umin(uint32_t a, uint32_t b) { return a < b ? a : b; }
static int32_t smax(int32_t a, int32_t b) { return a > b ? a : b; }

/* What item i of a group x of n items should answer; `most` items are a sub-group. */
static void answer(const int32_t *x, unsigned n, unsigned i, unsigned most, int32_t *out) {
    unsigned first = i / most * most, end = umin(first + most, n);
    memset(out, 0, ANSWERS * sizeof *out);
    out[2] = INT32_MIN;
    out[5] = -1;
    for (unsigned k = 0; k < n; k++) {
        out[0] += x[k];
        if (k <= i) out[1] += x[k];
        if (k < i) out[2] = smax(out[2], x[k]);
        out[3] |= x[k] == 7;
    }
    for (unsigned k = first; k < end; k++) {
        out[4] += x[k];
        if (k <= i) out[5] = (int32_t)umin((uint32_t)out[5], (uint32_t)x[k]);
    }
    unsigned partner = first + ((i - first) ^ 1);
    out[6] = partner < end ? x[partner] : 0;
    out[7] = (int32_t)(i / most);
    out[8] = (int32_t)most;
    out[9] = x[n - 1 - i];
}

static void check_answers(device_test *t, const int32_t *in, const int32_t *got, unsigned n) {
    for (unsigned k = 0; k < GROUPS * n; k++) {
        int32_t wanted[ANSWERS];
        unsigned group = k / n * n, most = (unsigned)got[k * ANSWERS + 8];
        if (most == 0) most = 1;
        answer(in + group, n, k - group, most, wanted);
        bool alone = (k - group) % most == most - 1 ? false : k - group == n - 1;
        for (unsigned a = 0; a < ANSWERS; a++) {
            bool undefined = a == 6 && (alone || most == 1);
            if (undefined || got[k * ANSWERS + a] == wanted[a]) continue;
            dt_check(t, false, "groups of %u: item %u, answer %u: %d, not %d", n, k, a,
                     got[k * ANSWERS + a], wanted[a]);
            return;
        }
    }
    dt_check(t, true, "groups");
}

void dt_groups(device_test *t) {
    static const unsigned sizes[] = {1, 31, 32, 33, 100, 1024};
    static int32_t in[GROUPS * MOST], out[GROUPS * MOST * ANSWERS];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        unsigned n = sizes[s];
        const spvf_range r = {.dims = 1, .global = {GROUPS * n}, .local = {n}};
        for (unsigned k = 0; k < GROUPS * n; k++) in[k] = (int32_t)(k * 7919 % 1009) - 300;
        const dt_buffer buffers[] = {
            {in, GROUPS * n * 4}, {out, GROUPS * n * ANSWERS * 4}, {NULL, n * 4}};
        bool ok = dt_run(t, t->name, whole_text(), &r, buffers, 3);
        dt_check(t, ok, "groups of %u run", n);
        if (ok) check_answers(t, in, out, n);
    }
}

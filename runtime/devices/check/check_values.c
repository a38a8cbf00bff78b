/* check_values.c — what group operations compute: votes, reductions, scans, broadcasts, shuffles,
 * ballots, for any set of active work-items.
 *
 * Members come in ascending order; the id of one within its scope is its distance from the first
 * work-item of the scope.  Reductions and scans go through the members in that order, so floating
 * results are reproducible.  What reads a work-item that is not there gives undefined zeros.  A
 * result is undefined when something that went into it is.
 */
#include "ir/eval.h"
#include "runtime/devices/check/check_impl.h"

typedef struct {
    check_state *l;
    const ir_inst *at;
    check_item *const *member;
    uint32_t n, first;
    ir_type type; /* of operand 0; without operands that of the result */
    unsigned lanes;
} meeting;

uint32_t check_subgroup_first(const check_state *l, uint32_t item) {
    return item / l->setup->options.subgroup_size * l->setup->options.subgroup_size;
}

uint32_t check_subgroup_count(const check_state *l, uint32_t item) {
    uint32_t left = l->group.nitems - check_subgroup_first(l, item);
    return left < l->setup->options.subgroup_size ? left : l->setup->options.subgroup_size;
}

static ir_value *operand(const meeting *m, uint32_t k) {
    return &m->l->scratch.operands[m->member[k]->index];
}

static ir_value *result(const meeting *m, uint32_t k) {
    return &m->l->scratch.results[m->member[k]->index];
}

static uint32_t id_of(const meeting *m, uint32_t k) { return m->member[k]->index - m->first; }

static unsigned width_of(const meeting *m, ir_type t) {
    return ir_bits(m->l->setup->kernel->module, t);
}

static uint8_t full_mask(const meeting *m, ir_type t) {
    return (uint8_t)((1u << (width_of(m, t) + 7) / 8) - 1);
}

static void set_lane(ir_value *v, unsigned lane, uint64_t bits, uint8_t undef) {
    v->bits[lane] = bits;
    v->undef[lane] = undef;
}

static void set_all(const meeting *m, uint64_t bits, bool undef) {
    for (uint32_t k = 0; k < m->n; k++)
        set_lane(result(m, k), 0, bits, undef ? full_mask(m, m->at->type) : 0);
}

/* ---------------------------------------------------------------------------------------- votes */

static bool any_undefined(const meeting *m) {
    uint8_t undef = 0;
    for (uint32_t k = 0; k < m->n; k++)
        for (unsigned lane = 0; lane < m->lanes; lane++) undef |= operand(m, k)->undef[lane];
    return undef != 0;
}

static void vote(const meeting *m) {
    bool some = false, every = true;
    for (uint32_t k = 0; k < m->n; k++) {
        some |= operand(m, k)->bits[0] & 1;
        every &= operand(m, k)->bits[0] & 1;
    }
    set_all(m, m->at->op == IR_OP_group_any ? some : every, any_undefined(m));
}

static bool is_equal(const meeting *m, uint64_t a, uint64_t b) {
    ir_type t = ir_elem(m->type);
    return ir_is_float(t) ? ir_fp_compare(ir_kind_of(t), a, b) == 0 : a == b;
}

static void vote_equal(const meeting *m) {
    bool same = true;
    for (uint32_t k = 0; k < m->n; k++)
        for (unsigned lane = 0; lane < m->lanes; lane++)
            same &= is_equal(m, operand(m, k)->bits[lane], operand(m, 0)->bits[lane]);
    set_all(m, same, any_undefined(m));
}

static void elect(const meeting *m) {
    set_all(m, 0, false);
    result(m, 0)->bits[0] = 1;
}

/* ------------------------------------------------------------------------- reductions and scans */

/* What an exclusive scan gives the first one. */
static uint64_t identity(const meeting *m) {
    ir_kind k = ir_kind_of(ir_elem(m->type));
    unsigned width = width_of(m, m->type);
    uint64_t ones = ir_zext(UINT64_MAX, width), sign = UINT64_C(1) << (width - 1);
    switch (m->at->op) {
    case IR_OP_group_mul: return 1;
    case IR_OP_group_fmul: return ir_fp_from_double(k, 1);
    case IR_OP_group_and:
    case IR_OP_group_umin: return ones;
    case IR_OP_group_smin: return ones ^ sign;
    case IR_OP_group_smax: return sign;
    case IR_OP_group_fmin: return ir_fp_inf(k, false);
    case IR_OP_group_fmax: return ir_fp_inf(k, true);
    default: return 0;
    }
}

typedef struct {
    uint64_t bits;
    uint8_t undef;
} total;

static void add_to(const meeting *m, total *t, const ir_value *v, unsigned lane, bool is_first) {
    ir_kind k = ir_kind_of(ir_elem(m->type));
    unsigned width = width_of(m, m->type);
    ir_eval_env e = {.op = ir_combining_op((ir_op)m->at->op),
                     .k_res = k,
                     .k_arg = k,
                     .w_res = width,
                     .w_arg = width};
    uint64_t sum =
        is_first ? v->bits[lane] : ir_eval_lane(&e, (uint64_t[4]){t->bits, v->bits[lane]});
    t->bits = ir_zext(sum, width);
    t->undef |= v->undef[lane];
}

static void put_total(const meeting *m, uint32_t k, unsigned lane, const total *t) {
    set_lane(result(m, k), lane, t->bits, t->undef ? full_mask(m, m->type) : 0);
}

static uint32_t cluster_of(const meeting *m, uint32_t k) {
    bool clustered = m->at->imm.group.op == IR_GROUP_CLUSTERED;
    return clustered ? id_of(m, k) >> m->at->imm.group.log_size : 0;
}

static void reduce_lane(const meeting *m, unsigned lane) {
    for (uint32_t k = 0, end; k < m->n; k = end) {
        total t = {0};
        for (end = k; end < m->n && cluster_of(m, end) == cluster_of(m, k); end++)
            add_to(m, &t, operand(m, end), lane, end == k);
        for (uint32_t j = k; j < end; j++) put_total(m, j, lane, &t);
    }
}

static void scan_lane(const meeting *m, unsigned lane) {
    bool inclusive = m->at->imm.group.op == IR_GROUP_INCLUSIVE;
    total t = {.bits = identity(m)};
    for (uint32_t k = 0; k < m->n; k++) {
        if (!inclusive) put_total(m, k, lane, &t);
        add_to(m, &t, operand(m, k), lane, k == 0);
        if (inclusive) put_total(m, k, lane, &t);
    }
}

static void reduce_or_scan(const meeting *m) {
    unsigned op = m->at->imm.group.op;
    bool scans = op == IR_GROUP_INCLUSIVE || op == IR_GROUP_EXCLUSIVE;
    for (unsigned lane = 0; lane < m->lanes; lane++)
        if (scans)
            scan_lane(m, lane);
        else
            reduce_lane(m, lane);
}

/* ------------------------------------------------------------------ values of another work-item */

/* The member with that id in its scope, or m->n. */
static uint32_t member_of(const meeting *m, uint64_t id) {
    uint32_t low = 0, high = m->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (id_of(m, mid) < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < m->n && id_of(m, low) == id ? low : m->n;
}

static void take_from(const meeting *m, uint32_t k, uint32_t from, bool undef) {
    for (unsigned lane = 0; lane < m->lanes; lane++) {
        bool there = from < m->n;
        set_lane(result(m, k), lane, there ? operand(m, from)->bits[lane] : 0,
                 undef || !there ? full_mask(m, m->type) : operand(m, from)->undef[lane]);
    }
}

static uint64_t rotated(const meeting *m, uint32_t id, uint64_t delta) {
    uint64_t size = m->at->imm.group.scope == IR_SCOPE_SUBGROUP ? m->l->setup->options.subgroup_size
                                                                : m->l->group.nitems;
    if (m->at->imm.group.op == IR_GROUP_CLUSTERED) size = UINT64_C(1) << m->at->imm.group.log_size;
    return id - id % size + (id + delta) % size;
}

static uint64_t shuffle_source(const meeting *m, uint32_t id, uint64_t by) {
    switch (m->at->op) {
    case IR_OP_group_shuffle_xor: return id ^ by;
    case IR_OP_group_shuffle_up: return id - by;
    case IR_OP_group_shuffle_down: return id + by;
    case IR_OP_group_rotate: return rotated(m, id, by);
    default: return by;
    }
}

static void shuffle(const meeting *m) {
    for (uint32_t k = 0; k < m->n; k++) {
        ir_value by;
        ir_interp_operand(m->member[k]->run, 1, &by);
        uint64_t from = shuffle_source(m, id_of(m, k), by.bits[0]);
        take_from(m, k, member_of(m, from), by.undef[0] != 0);
    }
}

/* Operand 1 as a linear id: a scalar is one, a vector is a local id by dimension. */
static uint64_t linear_id(const meeting *m, const ir_value *id, bool *undef) {
    unsigned dims = ir_lanes(ir_arg(m->at, 1)->type);
    uint64_t linear = 0;
    for (unsigned d = dims; d-- > 0;) {
        *undef |= id->undef[d] != 0;
        if (dims > 1 && id->bits[d] >= m->l->group.size[d]) return UINT64_MAX;
        linear = linear * m->l->group.size[d] + id->bits[d];
    }
    return linear;
}

static void report_operand(const meeting *m, uint32_t k, const char *what) {
    uint64_t group = m->l->group.index;
    check_finding f = {.kind = CHECK_GROUP_OPERAND,
                       .severity = IR_ERROR,
                       .here = {m->at, group, m->member[k]->index},
                       .has_other = true,
                       .other = {m->at, group, m->member[0]->index}};
    check_find(m->l, &f, "work-items give different %s to %s", what, ir_info(m->at)->name);
}

static void broadcast(const meeting *m) {
    uint64_t agreed = 0;
    for (uint32_t k = 0; k < m->n; k++) {
        ir_value id;
        bool undef = false;
        ir_interp_operand(m->member[k]->run, 1, &id);
        uint64_t from = linear_id(m, &id, &undef);
        if (k == 0) agreed = from;
        if (from != agreed) report_operand(m, k, "ids");
        take_from(m, k, member_of(m, from), undef);
    }
}

static void broadcast_first(const meeting *m) {
    for (uint32_t k = 0; k < m->n; k++) take_from(m, k, 0, false);
}

/* -------------------------------------------------------------------------------------- ballots */

static bool ballot_bit(const uint64_t words[4], uint64_t bit) {
    return bit < CHECK_MAX_SUBGROUP && (words[bit / 32] >> bit % 32 & 1);
}

static void ballot(const meeting *m) {
    uint64_t words[4] = {0};
    bool undef = any_undefined(m);
    for (uint32_t k = 0; k < m->n; k++) {
        uint32_t id = id_of(m, k);
        if (id < CHECK_MAX_SUBGROUP) words[id / 32] |= (operand(m, k)->bits[0] & 1) << id % 32;
    }
    for (uint32_t k = 0; k < m->n; k++)
        for (unsigned w = 0; w < 4; w++) set_lane(result(m, k), w, words[w], undef ? 0xf : 0);
}

/* Counts the bits of a ballot up to an end; *lowest and *highest are those found. */
static uint64_t count_bits(const uint64_t words[4], uint32_t end, uint32_t *lowest,
                           uint32_t *highest) {
    uint64_t n = 0;
    for (uint32_t bit = 0; bit < end; bit++) {
        if (!ballot_bit(words, bit)) continue;
        if (n++ == 0) *lowest = bit;
        *highest = bit;
    }
    return n;
}

/* Asks a ballot something; the answer of one work-item.  The bits that a full sub-group has count,
 * also in a smaller one. */
static uint64_t ask_ballot(const meeting *m, uint32_t k, const uint64_t words[4], bool *undef) {
    uint32_t id = id_of(m, k), size = m->l->setup->options.subgroup_size, low = 0, high = 0;
    unsigned op = m->at->imm.group.op;
    ir_value by;
    if (m->at->op == IR_OP_group_inverse_ballot) return ballot_bit(words, id);
    if (m->at->op == IR_OP_group_ballot_bit) {
        ir_interp_operand(m->member[k]->run, 1, &by);
        *undef |= by.undef[0] != 0;
        return ballot_bit(words, by.bits[0]);
    }
    if (m->at->op == IR_OP_group_ballot_count) {
        uint32_t end = op == IR_GROUP_INCLUSIVE ? id + 1 : op == IR_GROUP_EXCLUSIVE ? id : size;
        return count_bits(words, end, &low, &high);
    }
    if (count_bits(words, size, &low, &high) == 0) *undef = true;
    return m->at->op == IR_OP_group_ballot_lsb ? low : high;
}

static void ask_ballots(const meeting *m) {
    for (uint32_t k = 0; k < m->n; k++) {
        const ir_value *v = operand(m, k);
        bool undef = (v->undef[0] | v->undef[1] | v->undef[2] | v->undef[3]) != 0;
        uint64_t bits = ask_ballot(m, k, v->bits, &undef);
        set_lane(result(m, k), 0, bits, undef ? full_mask(m, m->at->type) : 0);
    }
}

uint64_t check_subgroup_mask(const check_state *l, const ir_inst *i, unsigned lane) {
    uint32_t first = check_subgroup_first(l, l->item->index), id = l->item->index - first;
    uint32_t size = check_subgroup_count(l, l->item->index);
    uint64_t word = 0;
    for (uint32_t bit = lane * 32; bit < lane * 32 + 32 && bit < size; bit++) {
        const bool member[] = {bit == id, bit >= id, bit > id, bit <= id, bit < id};
        word |= (uint64_t)member[i->imm.bits] << bit % 32;
    }
    return word;
}

void check_group_op(check_state *l, check_item *const *member, uint32_t n, uint32_t first) {
    meeting m = {.l = l, .at = ir_interp_at(member[0]->run), .member = member, .n = n};
    m.first = first;
    m.type = m.at->nargs ? ir_arg(m.at, 0)->type : m.at->type;
    m.lanes = ir_lanes(m.type);
    for (uint32_t k = 0; m.at->nargs && k < n; k++)
        ir_interp_operand(member[k]->run, 0, operand(&m, k));
    switch (m.at->op) {
    case IR_OP_group_all:
    case IR_OP_group_any: vote(&m); break;
    case IR_OP_group_all_equal: vote_equal(&m); break;
    case IR_OP_group_elect: elect(&m); break;
    case IR_OP_group_broadcast: broadcast(&m); break;
    case IR_OP_group_broadcast_first: broadcast_first(&m); break;
    case IR_OP_group_ballot: ballot(&m); break;
    case IR_OP_group_inverse_ballot:
    case IR_OP_group_ballot_bit:
    case IR_OP_group_ballot_count:
    case IR_OP_group_ballot_lsb:
    case IR_OP_group_ballot_msb: ask_ballots(&m); break;
    case IR_OP_group_shuffle:
    case IR_OP_group_shuffle_xor:
    case IR_OP_group_shuffle_up:
    case IR_OP_group_shuffle_down:
    case IR_OP_group_rotate: shuffle(&m); break;
    default: reduce_or_scan(&m);
    }
}

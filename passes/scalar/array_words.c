/* array_words.c — small private arrays become variables, one for each word, from which comparisons
 * of the index select.
 *
 * On a GPU private memory is memory: what an index chooses from it waits for the cache, twice if it
 * has just been stored.  A few comparisons and selections in registers are faster.
 *
 * An array is taken apart if all that uses its address is known: loads, stores and fills of whole
 * words, at constant distances, or at one index with a factor.  An access at an index has one
 * candidate for each place in the array that it can lead to.  A load selects among the candidates,
 * and a store selects for each of them between the old value and the new one.
 */
#include "passes/passes.h"

enum { MAX_WORDS = 16, MAX_ACCESSES = 64, MAX_DEPTH = 8, WORD = 4 };

/* A load, store or fill at `distance` bytes from the array, plus the index times `unit`, which is a
 * multiple of `stride`; index NULL: none. */
typedef struct {
    ir_inst *i, *index;
    int64_t distance, unit, stride;
    unsigned words;
} access;

typedef struct {
    ir_func *f;
    ir_builder b;
    ir_inst *array;
    unsigned words; /* of the array */
    access list[MAX_ACCESSES];
    unsigned n;
    ir_inst *word[MAX_WORDS]; /* the variables */
} splitter;

/* ------------------------------------------------------------------------------------- analysis */

/* What the first operand of a shift or product is multiplied by, if that is a small constant. */
static int64_t factor_of(const ir_inst *sum) {
    if (sum->op != IR_OP_shl && sum->op != IR_OP_mul) return 1;
    const ir_inst *by = ir_arg(sum, 1);
    uint64_t most = sum->op == IR_OP_shl ? 14 : INT16_MAX;
    if (!ir_is_const(by) || by->imm.bits > most || !by->imm.bits) return 1;
    return sum->op == IR_OP_shl ? INT64_C(1) << by->imm.bits : (int64_t)by->imm.bits;
}

static bool is_extended(const ir_inst *x) {
    return (x->op == IR_OP_zext || x->op == IR_OP_sext) && ir_arg(x, 0)->type == ir_scalar(IR_I32);
}

/* Multiples of an extended number do not wrap, so the number itself is compared, in 32 bits.  Those
 * of others might be the same without it. */
static void set_index(access *a, ir_inst *sum) {
    int64_t factor = factor_of(sum);
    ir_inst *x = factor > 1 ? ir_arg(sum, 0) : NULL;
    bool whole = x && is_extended(x);
    a->index = whole ? ir_arg(x, 0) : sum;
    a->unit = whole ? factor : 1;
    a->stride = whole ? factor : factor & -factor;
}

static bool is_inside(const splitter *s, int64_t distance, unsigned words) {
    return distance >= 0 && distance % WORD == 0 &&
           (uint64_t)distance + words * WORD <= s->words * WORD;
}

static bool add_access(splitter *s, access a, ir_type t) {
    bool plain = !ir_is_aggregate(t) && !ir_is_ptr(ir_elem(t)) && !ir_is_bool(ir_elem(t));
    uint64_t bytes = plain ? ir_access_size(s->f->module, t) : 0;
    a.words = (unsigned)(bytes / WORD);
    if (!a.words || bytes % WORD || a.i->imm.mem.flags & IR_MEM_VOLATILE) return false;
    if (!a.index && !is_inside(s, a.distance, a.words)) return false;
    if (s->n == MAX_ACCESSES || a.distance % WORD) return false;
    s->list[s->n++] = a;
    return true;
}

static bool add_fill(splitter *s, access a) {
    const ir_inst *size = ir_arg(a.i, 2);
    if (a.index || !ir_is_const(size) || !ir_is_const(ir_arg(a.i, 1)) || size->imm.bits % WORD)
        return false;
    if (s->n == MAX_ACCESSES || size->imm.bits > s->words * WORD) return false;
    a.words = (unsigned)size->imm.bits / WORD;
    if (!is_inside(s, a.distance, a.words)) return false;
    s->list[s->n++] = a;
    return true;
}

static bool follow(splitter *s, const ir_inst *address, access a, unsigned depth);

static bool follow_sum(splitter *s, const ir_inst *sum, access a, unsigned depth) {
    ir_inst *more = ir_arg(sum, 1);
    if (ir_is_const(more)) {
        a.distance = ir_wrap_add(a.distance, ir_signed_const(more));
    } else {
        if (a.index) return false;
        set_index(&a, more);
        if (a.stride % WORD) return false;
    }
    return a.distance > -INT16_MAX && a.distance < INT16_MAX && follow(s, sum, a, depth - 1);
}

static bool follow_use(splitter *s, const ir_use *u, access a, unsigned depth) {
    unsigned n = (unsigned)(u - u->user->arg);
    a.i = u->user;
    switch (u->user->op) {
    case IR_OP_ptradd: return n == 0 && follow_sum(s, u->user, a, depth);
    case IR_OP_load: return add_access(s, a, u->user->type);
    case IR_OP_store: return n == 1 && add_access(s, a, ir_arg(u->user, 0)->type);
    case IR_OP_fill: return n == 0 && add_fill(s, a);
    default: return false;
    }
}

static bool follow(splitter *s, const ir_inst *address, access a, unsigned depth) {
    if (depth == 0 || ir_is_vector(address->type)) return false;
    foreach_use (u, address)
        if (!follow_use(s, u, a, depth)) return false;
    return true;
}

/* Some access has an index: otherwise sroa has done the work. */
static bool find_accesses(splitter *s) {
    uint64_t bytes = ir_sizeof(s->f->module, s->array->imm.var->type);
    bool indexed = false;
    s->n = 0;
    s->words = (unsigned)(bytes / WORD);
    if (!bytes || bytes % WORD || bytes > MAX_WORDS * WORD) return false;
    if (!follow(s, s->array, (access){0}, MAX_DEPTH)) return false;
    for (unsigned n = 0; n < s->n; n++) indexed |= s->list[n].index != NULL;
    return indexed;
}

/* ----------------------------------------------------------------------------------- candidates */

/* The first distance from the array at which the access may happen. */
static int64_t first_place(const access *a) {
    return a->index ? (a->distance % a->stride + a->stride) % a->stride : a->distance;
}

static int64_t step_of(const splitter *s, const access *a) {
    return a->index ? a->stride : (int64_t)s->words * WORD;
}

static ir_inst *load_word(splitter *s, uint64_t place) {
    return ir_build_load(&s->b, IR_I32, s->word[place / WORD], WORD, 0);
}

/* 32 bits tell all places in the array apart. */
static ir_inst *is_at(splitter *s, const access *a, int64_t place) {
    uint32_t number = (uint32_t)((place - a->distance) / a->unit);
    ir_inst *index =
        a->index->type == IR_I32 ? a->index : ir_build1(&s->b, IR_OP_trunc, IR_I32, a->index);
    return ir_build2(&s->b, IR_OP_eq, IR_I1, index, ir_const(s->f, IR_I32, number));
}

/* Words as one value of type t. */
static ir_inst *join(splitter *s, ir_inst *const *words, unsigned n, ir_type t) {
    ir_inst *v = n == 1 ? *words : ir_build_vec(&s->b, ir_vector(IR_I32, n), words);
    return ir_build_reinterpret(&s->b, v, t);
}

static void split_load(splitter *s, const access *a) {
    ir_inst *words[MAX_WORDS];
    for (unsigned k = 0; k < a->words; k++) {
        words[k] = NULL;
        for (int64_t at = first_place(a); is_inside(s, at, a->words); at += step_of(s, a)) {
            ir_inst *w = load_word(s, (uint64_t)at + k * WORD);
            words[k] = words[k] ? ir_build_select(&s->b, is_at(s, a, at), w, words[k]) : w;
        }
        if (!words[k]) words[k] = ir_undef(s->f, IR_I32);
    }
    ir_replace_uses(a->i, join(s, words, a->words, a->i->type));
}

static ir_inst *stored_word(splitter *s, const access *a, unsigned k) {
    ir_inst *v = ir_arg(a->i, a->i->op == IR_OP_fill);
    if (a->i->op == IR_OP_fill) return ir_const(s->f, IR_I32, (v->imm.bits & 0xff) * 0x01010101u);
    if (a->words == 1) return ir_build_reinterpret(&s->b, v, IR_I32);
    return ir_build_extract(&s->b, ir_build_reinterpret(&s->b, v, ir_vector(IR_I32, a->words)), k);
}

static void split_store(splitter *s, const access *a) {
    for (unsigned k = 0; k < a->words; k++) {
        ir_inst *v = stored_word(s, a, k);
        for (int64_t at = first_place(a); is_inside(s, at, a->words); at += step_of(s, a)) {
            uint64_t place = (uint64_t)at + k * WORD;
            ir_inst *w = v;
            if (a->index) {
                ir_inst *old = load_word(s, place);
                w = ir_build_select(&s->b, is_at(s, a, at), v, old);
            }
            ir_build_store(&s->b, w, s->word[place / WORD], WORD, 0);
        }
    }
}

static void split(splitter *s) {
    ir_before(&s->b, s->array);
    for (unsigned k = 0; k < s->words; k++) s->word[k] = ir_build_alloca(&s->b, IR_I32, WORD);
    for (unsigned n = 0; n < s->n; n++) {
        const access *a = &s->list[n];
        ir_before(&s->b, a->i);
        s->b.loc = a->i->loc;
        if (a->i->op == IR_OP_load)
            split_load(s, a);
        else
            split_store(s, a);
        ir_remove(a->i);
    }
    ir_count(s->f->module->cx, array_words_split, 1);
}

static splitter *new_splitter(ir_func *f, ir_arena *scratch) {
    splitter *s = ir_new(scratch, splitter);
    s->f = f;
    ir_builder_init(&s->b, f);
    return s;
}

/* Does:  takes small private arrays with indices apart into words, for targets whose private memory
 *        is slow (has_short_ids).
 * Needs: sroa, which knows better about arrays without indices; indices in one form (simplify).
 * Leaves: variables for mem2reg; addresses without uses, for dce; equal comparisons, for gvn.
 * Gives up: on arrays of more than 16 words or 64 accesses; on indices of bytes. */
bool pass_array_words(ir_func *f, pass_ctx *cx) {
    bool changed = false;
    if (!cx->target || !cx->target->has_short_ids) return false;
    splitter *s = NULL;
    foreach_block (b, f)
        foreach_inst (i, b) {
            if (i->op != IR_OP_alloca) continue;
            if (!s) s = new_splitter(f, cx->scratch);
            s->array = i;
            if (!find_accesses(s)) continue;
            split(s);
            changed = true;
        }
    return changed;
}

/* verify_module.c — the verifier's entries, and checks outside of bodies: names, globals with
 * their initializers, signatures and attributes of functions.
 *
 * The verifier frees all its memory except what ir_dominators keeps in the module.  If memory runs
 * out, it leaves through the caller's ir_try.
 */
#include "ir/flow.h"
#include "ir/verify.h"

/* ------------------------------------------------------------------------------------ functions */

static uint32_t known_bits(const text_word *table) {
    uint32_t bits = 0;
    for (; table->word; table++) bits |= table->bits;
    return bits;
}

static void check_param(verifier *v, uint32_t n) {
    const ir_param *p = &v->f->param[n];
    ir_type t = v->f->param_val[n]->type;
    uint32_t unknown = p->attrs & ~known_bits(text_param_attrs);
    if (!verify_is_value(t)) verify_fail(v, "parameter %u has no value type", n);
    if (unknown) verify_fail(v, "parameter %u has unknown attributes 0x%x", n, unknown);
    if (p->align && !verify_is_align(p->align))
        verify_fail(v, "parameter %u: alignment %u is no power of 2 up to 2^31", n, p->align);
    if ((p->attrs & IR_PARAM_BYVAL) && t != ir_ptr(IR_PRIVATE))
        verify_fail(v, "parameter %u is passed by value and is no ptr.private", n);
    if ((p->attrs & IR_PARAM_SPILLED) && t != ir_ptr(IR_CONST))
        verify_fail(v, "parameter %u has the bytes of a struct and is no ptr.const", n);
    if (p->special && !p->closure)
        verify_fail(v, "parameter %u is of a special member, and of no struct", n);
    if (p->byval_size && !(p->attrs & (IR_PARAM_BYVAL | IR_PARAM_SPILLED)))
        verify_fail(v, "parameter %u has a size and is not passed by value", n);
    if ((p->attrs & IR_PARAM_SPECIALIZED) && ir_arg_kind_of(t, p) != IR_ARG_VALUE)
        verify_fail(v, "parameter %u is specialized and has no value", n);
}

static bool is_whole(const uint32_t size[3]) {
    return !size[0] == !size[1] && !size[1] == !size[2];
}

static void check_attributes(verifier *v) {
    const ir_func *f = v->f;
    uint32_t unknown = f->flags & ~(known_bits(text_func_flags) | IR_FUNC_KERNEL);
    if (unknown) verify_fail(v, "unknown function flags 0x%x", unknown);
    if (!f->level || (f->level & (f->level - 1)) || f->level > L_ALLOCATED)
        verify_fail(v, "0x%x is no level", f->level);
    if (f->ret != IR_VOID && !verify_is_value(f->ret))
        verify_fail(v, "the function returns no value type");
    if ((f->flags & IR_FUNC_KERNEL) && f->ret != IR_VOID)
        verify_fail(v, "a kernel returns nothing");
    if (!is_whole(f->attrs.local_size) || !is_whole(f->attrs.hint))
        verify_fail(v, "a work-group size has a 0");
    for (int i = 0; i < 3; i++)
        if (f->attrs.float_controls[i] & ~known_bits(text_float_controls))
            verify_fail(v, "unknown float controls 0x%x", f->attrs.float_controls[i]);
}

static void check_presence_of_body(verifier *v) {
    const ir_func *f = v->f;
    bool elsewhere = (f->flags & (IR_FUNC_IMPORT | IR_FUNC_REFUSED)) != 0;
    if (f->first && elsewhere)
        verify_fail(v, "an imported or refused function has no body");
    else if (!f->first && !elsewhere)
        verify_fail(v, "the function has no body, and is neither imported nor refused");
    if ((f->flags & IR_FUNC_REFUSED) && !f->refusal)
        verify_fail(v, "the reason for the refusal is missing");
}

static void check_func(verifier *v, ir_func *f) {
    v->f = f;
    check_attributes(v);
    for (uint32_t n = 0; n < f->nparams; n++) check_param(v, n);
    check_presence_of_body(v);
    verify_body(v);
    v->f = NULL;
}

/* -------------------------------------------------------------------------------------- globals */

static void check_relocs(verifier *v, const ir_global *g) {
    uint64_t size = ir_sizeof(v->m, g->type), bytes = v->m->pointer_bits / 8, end = 0;
    if (g->nreloc && !g->init) verify_fail(v, "@%s has addresses and no initializer", g->name);
    for (uint32_t n = 0; n < g->nreloc; n++) {
        const ir_reloc *r = &g->reloc[n];
        if (r->offset > size || size - r->offset < bytes)
            verify_fail(v, "@%s: the address at byte %llu ends after the global", g->name,
                        (unsigned long long)r->offset);
        else if (r->offset < end)
            verify_fail(v, "@%s: the address at byte %llu overlaps the one before it", g->name,
                        (unsigned long long)r->offset);
        else
            end = r->offset + bytes;
        if (!r->global || r->global->module != v->m)
            verify_fail(v, "@%s: an address of no global of this module", g->name);
    }
}

static void check_global(verifier *v, const ir_global *g) {
    uint32_t unknown = g->flags & ~known_bits(text_global_flags);
    if (g->space > IR_CONST) verify_fail(v, "@%s is in no address space of its own", g->name);
    if (g->type == IR_VOID) verify_fail(v, "@%s has no size", g->name);
    if (!verify_is_align(g->align))
        verify_fail(v, "@%s: alignment %u is no power of 2 up to 2^31", g->name, g->align);
    if (unknown) verify_fail(v, "@%s has unknown flags 0x%x", g->name, unknown);
    if ((g->flags & IR_FUNC_IMPORT) && g->init)
        verify_fail(v, "@%s is imported and has an initializer", g->name);
    check_relocs(v, g);
}

/* ---------------------------------------------------------------------------------------- names */

typedef struct taken taken;
struct taken {
    const char *name;
    taken *next; /* with an equal hash */
};

static void check_name(verifier *v, ir_map *map, const char *name) {
    if (!name) {
        verify_fail(v, "a function or global has no name");
        return;
    }
    uint64_t key = ir_hash(0, name, strlen(name));
    taken *t = ir_map_get(map, key);
    while (t && strcmp(t->name, name) != 0) t = t->next;
    if (t) {
        verify_fail(v, "the name @%s is taken twice", name);
        return;
    }
    t = ir_new(&v->scratch, taken);
    *t = (taken){name, ir_map_get(map, key)};
    ir_map_set(&v->scratch, map, key, t);
}

/* -------------------------------------------------------------------------------------- entries */

typedef struct {
    verifier v;
    ir_func *only; /* NULL: the whole module */
} verify_job;

static void verify(void *arg) {
    verify_job *job = arg;
    verifier *v = &job->v;
    ir_map names = {0};
    if (job->only) {
        check_func(v, job->only);
        return;
    }
    foreach_global (g, v->m) check_name(v, &names, g->name);
    foreach_func (f, v->m) check_name(v, &names, f->name);
    foreach_global (g, v->m) check_global(v, g);
    foreach_func (f, v->m) check_func(v, f);
}

static bool run(const ir_module *m, const ir_func *only) {
    ir_ctx *cx = m->cx;
    verify_job job = {.v.m = (ir_module *)m, .only = (ir_func *)only};
    ir_arena_init(&job.v.scratch, cx);
    bool done = ir_try(cx, verify, &job);
    ir_arena_free(&job.v.scratch);
    if (!done && cx->trap) ir_throw(cx, cx->status);
    return done && job.v.errors == 0;
}

bool ir_verify_func(const ir_func *f) { return run(f->module, f); }

bool ir_verify_module(const ir_module *m) { return run(m, NULL); }

/* lanes.c — bytes as a kernel and a launch of it, for vectorization over work-items.
 *
 * A kernel has variables of many types.  Statements compute with them (lanes_value.c), access
 * buffers (lanes_memory.c), and go different ways (lanes_flow.c).  In the end an item writes a
 * digest of all variables.  A launch has a local size of a list, up to three dimensions, and
 * sometimes an offset or a smaller last group.  Some kernels require a size of sub-groups, and have
 * operations of them (lanes_subgroup.c).
 *
 * Some kernels are calm: no work-item knows its group, and after a guard all take the same way.
 *
 * No expression takes bytes twice, so that they give the same program with every compiler.
 */
#include "tests/fuzz/lanes_impl.h"

/* ----------------------------------------------------------------------------------- statements */

/* The kinds of statements that calm kernels have. */
static unsigned calmer(unsigned what) {
    if (what == 6 || what == 7) return 0;
    return what > 7 && what < 13 ? what + 5 : what;
}

static void statement(lanes *g, unsigned depth) {
    unsigned what = lanes_below(g, 32);
    if (g->calm) what = calmer(what);
    bool nests = depth < LANES_DEPTH;
    if (nests && what < 3)
        lanes_branch(g, depth);
    else if (nests && what < 5)
        lanes_loop(g, depth);
    else if (nests && what == 5)
        lanes_switch(g, depth);
    else if (nests && what == 6 && !g->tangled && lanes_byte(g) % 4 == 3)
        lanes_tangle(g, depth);
    else if (nests && what == 7 && lanes_byte(g) & 1)
        lanes_grid(g, depth);
    else if (what >= 24 && what < 28 && g->meets && !g->tangled)
        lanes_subgroup(g);
    else if (what < 9)
        lanes_jump(g);
    else if (what < 11)
        lanes_meet(g);
    else if (what < 12)
        lanes_private(g);
    else if (what < 13 && lanes_byte(g) & 1)
        lanes_atomic(g);
    else if (nests && what == 21 && lanes_byte(g) & 1)
        lanes_row(g);
    else if (what < 22)
        lanes_access(g);
    else if (what < 24)
        lanes_fold(g);
    else
        lanes_compute(g);
}

void lanes_statements(lanes *g, unsigned most, unsigned depth) {
    for (unsigned n = 1 + lanes_below(g, most); n && g->at < g->end; n--) {
        if (g->statements++ == LANES_MOST) return;
        statement(g, depth);
    }
}

/* --------------------------------------------------------------------------------------- launch */

static void make_range(lanes *g) {
    static const uint64_t sizes[] = {16,  64, 37, 48,  3,  7,  1,  96,
                                     100, 32, 40, 255, 31, 17, 33, 1000};
    ir_range *r = &g->k->range;
    unsigned shape = lanes_below(g, 8), draw = lanes_byte(g);
    uint64_t local = sizes[lanes_below(g, 16)], groups = 1 + draw % 3;
    *r = (ir_range){.dims = 1, .global = {1, 1, 1}, .local = {1, 1, 1}};
    if (shape >= 5) r->dims = 2 + draw / 4 % 2;
    r->local[0] = local;
    if (shape == 5 && local < 64) r->local[1] = 2;
    if (shape == 6) r->local[0] = 1, r->local[1] = local;
    if (shape == 7 && local < 64) r->local[1] = 3, r->local[r->dims - 1] = 2;
    unsigned along = shape == 6 ? 1 : 0;
    for (unsigned d = 0; d < r->dims; d++) r->global[d] = r->local[d];
    r->global[along] *= local > 100 ? 1 : groups;
    if (shape >= 5 && local < 64) r->global[r->dims - 1] *= 2;
    if (draw / 16 % 8 == 7) r->offset[along] = 1 + draw % 5;
    if (draw / 8 % 8 == 6 && local > 1) r->global[along] -= 1 + draw % 64 % (local - 1);
    for (unsigned d = 0; g->calm && d < r->dims && d < 2; d++)
        r->global[d] = (r->global[d] + 3) / 4 * 4;
    g->k->known = lanes_byte(g) % 4 != 0;
    g->k->whole = lanes_byte(g) & 1;
}

/* The arguments by value. */
static void make_values(lanes *g) {
    lanes_kernel *k = g->k;
    uint64_t items = k->range.global[0] * k->range.global[1] * k->range.global[2];
    unsigned draw = lanes_byte(g);
    k->n = (uint32_t)(draw < 64 ? items : draw < 128 ? items / 2 : items - draw % 5);
    draw = lanes_byte(g); /* sometimes a multiple of 64 */
    k->u = (draw % 4 == 3 ? draw & 192 : draw) * 0x01030507u;
    k->w = lanes_byte(g) * UINT64_C(0x0100000000000083);
    k->x = (float)lanes_byte(g) / 8 - 4;
    k->local_bytes = k->range.local[0] * k->range.local[1] * k->range.local[2] * 4;
}

/* --------------------------------------------------------------------------------------- kernel */

static void make_function(lanes *g, ir_module *m) {
    ir_type types[LANES_BUFFERS + 5];
    unsigned n = g->k->nbuffers;
    for (unsigned k = 0; k < n; k++) types[k] = ir_ptr(IR_GLOBAL);
    types[n] = ir_ptr(IR_LOCAL);
    types[n + 1] = types[n + 2] = IR_I32;
    types[n + 3] = IR_I64;
    types[n + 4] = IR_F32;
    g->f = ir_func_new(m, "k", IR_VOID, n + 5, types);
    g->f->flags = IR_FUNC_KERNEL;
    g->k->subgroup = g->calm ? 1 : 1u << g->k->choice[3] / 8 % 7;
    g->f->attrs.subgroup_size = g->k->subgroup;
    for (unsigned k = 0; k < n; k++) g->param[k] = g->f->param_val[k];
    g->tile = g->f->param_val[n];
    g->n = g->f->param_val[n + 1];
    g->u = g->f->param_val[n + 2];
    g->w = g->f->param_val[n + 3];
    g->x = g->f->param_val[n + 4];
}

/* if (!test) return; */
static void return_unless(lanes *g, ir_inst *test) {
    ir_block *inside = lanes_block(g);
    ir_build_br(&g->b, test, inside, g->bare);
    ir_at_end(&g->b, inside);
}

static ir_inst *test_of_id(lanes *g) {
    static const ir_op tests[] = {IR_OP_ult, IR_OP_ule, IR_OP_slt, IR_OP_sle, IR_OP_eq, IR_OP_ne};
    unsigned draw = lanes_byte(g);
    ir_op query = draw & 1 ? IR_OP_local_id : IR_OP_global_id;
    ir_inst *id = ir_build_query(&g->b, query, IR_I32, draw / 2 % 8 == 7);
    ir_inst *limit = lanes_number(g, IR_I32, draw & 64 ? 0 : lanes_below(g, 100));
    bool first = draw & 128;
    ir_op test = first ? IR_OP_eq : tests[lanes_below(g, 6)];
    bool turned = lanes_below(g, 4) == 3;
    return ir_build2(&g->b, test, IR_I1, turned ? limit : id, turned ? id : limit);
}

/* if (id >= n) return; and perhaps more of the kind */
static void guard(lanes *g) {
    ir_inst *p = ir_build1(&g->b, IR_OP_trunc, IR_I32, g->position);
    unsigned draw = lanes_byte(g);
    if (draw % 8 == 7) return_unless(g, test_of_id(g));
    return_unless(g, ir_build2(&g->b, IR_OP_slt, IR_I1, p, g->n));
    if (draw % 8 > 5) return_unless(g, test_of_id(g));
    g->gone = true;
    g->alike = false;
}

static void finish(lanes *g) {
    ir_inst *sum = lanes_number(g, IR_I64, 0);
    ir_at_end(&g->b, g->end_block);
    for (unsigned k = 0; k < g->nvariables; k++)
        sum = defined_digest(&g->b, sum, lanes_get(g, g->variable[k]));
    lanes_own_store(g, sum, 0, 0);
    ir_build_jmp(&g->b, g->bare);
    ir_at_end(&g->b, g->bare);
    ir_build_ret(&g->b, NULL);
}

static void make_body(lanes *g) {
    ir_builder_init(&g->b, g->f);
    ir_at_end(&g->b, lanes_block(g));
    g->end_block = lanes_block(g);
    g->bare = lanes_block(g);
    g->alike = true;
    g->position = ir_build_query(&g->b, IR_OP_global_linear_id, IR_I64, 0);
    lanes_make_variables(g);
    lanes_first_pointer(g);
    if (lanes_byte(g) % 4 == 3) guard(g);
    lanes_statements(g, LANES_MOST, 0);
    ir_build_jmp(&g->b, g->end_block);
    finish(g);
}

void lanes_make(ir_ctx *cx, const uint8_t *data, size_t size, lanes_kernel *out) {
    lanes g = {.at = data, .end = data + size, .k = out};
    *out = (lanes_kernel){.module = ir_module_new(cx, "lanes", 64)};
    for (unsigned k = 0; k < sizeof out->choice; k++) out->choice[k] = (uint8_t)lanes_byte(&g);
    out->exact = lanes_byte(&g) % 4 != 3;
    g.calm = out->choice[1] >= 192;
    g.meets = lanes_byte(&g) % 4 == 3 && !g.calm;
    make_range(&g);
    make_values(&g);
    /* The layout of elements is that of the module's types. */
    g.f = ir_func_new(out->module, "sizes", IR_VOID, 0, NULL);
    lanes_make_buffers(&g);
    ir_func_remove(g.f);
    make_function(&g, out->module);
    make_body(&g);
}

/* functions.c — functions with branches in loops over items become code, so that it is vectorized.
 *
 *   does        in loops with the hint `items`, replaces what differs between items and is a
 *               function of the library with branches or tables by the code of the library, for
 *               vectors once per component.  Functions of f16 become those of f32.  Functions
 *               without branches remain operations, which work on any number of lanes
 *   needs       code of a work-group; a number of lanes above 1
 *   leaves      no functions with branches in these loops
 *   gives up    on functions that the library does not have
 *
 * The loops for the items that are left get the same code as from pass `builtins`.
 */
#include "passes/analysis/analysis.h"
#include "passes/lower/expand.h"
#include "passes/lower/library.h"

static bool is_in_items(const ir_loops *loops, const ir_block *b) {
    for (const ir_loop *l = loops->of[b->id]; l; l = l->parent)
        if (l->header->loop_hint & IR_LOOP_ITEMS) return true;
    return false;
}

/* A function of f16 is one of f32 between conversions, which i becomes; NULL: it is none. */
static ir_inst *widen_half(ir_builder *b, ir_inst *i) {
    bool half = ir_kind_of(i->type) == IR_F16 && ir_has_flag(i, F_NOFOLD);
    if (!half) return NULL;
    ir_before(b, i);
    b->loc = i->loc;
    ir_inst *r = expand_narrow_float(b, i);
    ir_replace_uses(i, r);
    ir_remove(i);
    return ir_arg(r, 0);
}

static bool replace(library *l, ir_func *f) {
    pass_uniformity u;
    ir_builder b;
    bool changed = false;
    pass_find_uniform_items(f, l->cx->scratch, &u);
    ir_builder_init(&b, f);
    foreach_block (block, f) {
        if (!is_in_items(u.loops, block)) continue;
        foreach_inst (i, block) {
            if (i->type == IR_VOID || !u.varies[i->id]) continue;
            ir_inst *wide = widen_half(&b, i);
            changed |= library_replace(l, &b, wide ? wide : i) || wide;
        }
    }
    if (changed) library_splice(l, f);
    return changed;
}

bool pass_functions(ir_module *m, pass_ctx *cx) {
    library l = {.cx = cx,
                 .source = {.pack = cx->library, .m = m, .scratch = cx->scratch},
                 .branches = true};
    ir_func *last = m->last_func;
    bool changed = false;
    if (!cx->library || !last || cx->lanes == 1) return false;
    for (ir_func *f = m->first_func;; f = f->next) {
        if (!ir_is_declaration(f) && f->level == L_GROUP) changed |= replace(&l, f);
        if (f == last) break;
    }
    library_drop(&l);
    return changed;
}

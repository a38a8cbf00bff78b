/* builtins.c — replaces operations that are functions by code of the library.
 *
 *   does        replaces the functions that libm decides, frem, remainder and remquo_q, and fma of
 *               f64 where the target has none, by code that cx->library has for f32 and f64.  The
 *               code is first expanded for the target.  Code of one block is copied with its types
 *               made as wide as the operation; other code is copied once per lane, or into a loop
 *   needs       expand: functions of 16 bits have become those of f32 by then
 *   leaves      no operation for which the library has a function; jumps for simplifycfg; equal
 *               values for gvn
 *   gives up    on functions that the library does not have
 */
#include "passes/lower/library.h"

static bool link_function(library *l, ir_func *f) {
    bool changed = false;
    ir_builder b;
    ir_builder_init(&b, f);
    foreach_block (block, f)
        foreach_inst (i, block) changed |= library_replace(l, &b, i);
    library_splice(l, f);
    return changed;
}

/* The builder's rules would put operations together that expand has taken apart. */
bool pass_builtins(ir_module *m, pass_ctx *cx) {
    library l = {
        .cx = cx, .source = {.pack = cx->library, .m = m, .scratch = cx->scratch}, .expands = true};
    const ir_simplifier *simplifier = m->simplifier;
    ir_func *last = m->last_func;
    bool changed = false;
    if (!cx->library || !last) return false;
    m->simplifier = NULL;
    for (ir_func *f = m->first_func;; f = f->next) {
        if (!ir_is_declaration(f)) changed |= link_function(&l, f);
        if (f == last) break;
    }
    library_drop(&l);
    m->simplifier = simplifier;
    return changed;
}

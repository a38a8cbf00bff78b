/* native_call.c — a function of the IR compiled for a machine and called.
 *
 * It becomes part of a function `entry` in a module of its own, which reads the arguments from a
 * buffer and writes the result after them, 512 bytes for each, so that values of any type pass.
 */
#include "tests/native_call.h"

#include "ir/change.h"
#include "passes/passes.h"

enum { PLACE = IR_MAX_LANES * 8 };

static bool is_passable(ir_type t) {
    return t == IR_VOID || (!ir_is_ptr(t) && !ir_is_opaque(t) && !ir_is_aggregate(t));
}

static ir_inst *place(ir_builder *b, ir_inst *buffer, uint32_t n) {
    ir_inst *offset = ir_const(b->f, ir_size_type(b->f->module), (uint64_t)n * PLACE);
    return ir_build_ptradd(b, buffer, offset, false);
}

/* void entry(buffer): *result = f(*arguments …) */
static void build_entry(ir_module *m, ir_func *f) {
    ir_type pointer = ir_ptr(IR_GLOBAL);
    ir_func *entry = ir_func_new(m, "entry", IR_VOID, 1, &pointer);
    ir_builder b;
    ir_inst *args[32];
    entry->flags |= IR_FUNC_KERNEL;
    ir_builder_init(&b, entry);
    ir_at_end(&b, ir_block_new(entry, NULL));
    for (uint32_t n = 0; n < f->nparams; n++)
        args[n] = ir_build_load(&b, f->param_val[n]->type, place(&b, entry->param_val[0], n), 8, 0);
    ir_inst *r = ir_build_call(&b, f, f->nparams, args);
    if (f->ret != IR_VOID) ir_build_store(&b, r, place(&b, entry->param_val[0], f->nparams), 8, 0);
    ir_build_ret(&b, NULL);
    entry->level = f->level;
}

static bool is_native(const ir_func *f) {
    foreach_block (b, f)
        foreach_inst (i, b)
            if (!(ir_info(i)->levels & L_GROUP)) return false;
    return true;
}

static uint64_t lane_mask(unsigned bits) {
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static unsigned lane_bytes(ir_type t) { return ir_is_bool(t) ? 1 : ir_bits(NULL, t) / 8; }

static void write_value(uint8_t *to, ir_type t, const ir_value *v) {
    unsigned bytes = lane_bytes(t);
    for (unsigned k = 0; k < ir_lanes(t); k++) memcpy(to + k * bytes, &v->bits[k], bytes);
}

static void read_value(const uint8_t *from, ir_type t, ir_value *v) {
    unsigned bytes = lane_bytes(t);
    *v = (ir_value){0};
    for (unsigned k = 0; k < ir_lanes(t); k++) {
        memcpy(&v->bits[k], from + k * bytes, bytes);
        v->bits[k] &= lane_mask(ir_bits(NULL, t));
    }
}

static uint32_t find_entry(const cg_object *o) {
    uint32_t n = 0;
    while (strcmp(o->symbols.data[n].name, "entry") != 0) n++;
    return n;
}

static native_outcome execute(ir_func *f, const cg_object *o, const test_machine *on,
                              const ir_value *args, ir_value *result) {
    static uint8_t buffer[33 * PLACE];
    for (uint32_t n = 0; n < f->nparams; n++)
        write_value(buffer + n * PLACE, f->param_val[n]->type, &args[n]);
    const char *problem = on->call(o, find_entry(o), buffer, sizeof buffer);
    if (problem) {
        ir_error(f->module->cx, "%s: %s", on->machine->name, problem);
        return NATIVE_FAILED;
    }
    if (f->ret != IR_VOID) read_value(buffer + f->nparams * PLACE, f->ret, result);
    return NATIVE_DONE;
}

static bool all_native(const ir_module *m) {
    foreach_func (f, m)
        if (ir_is_declaration(f) || !is_native(f)) return false;
    return true;
}

#define LOWERING "expand,builtins,simplifycfg,legalize_vectors,dce"

static native_outcome compile_and_run(ir_module *m, ir_func *f, const native_way *way,
                                      const ir_value *args, ir_value *result) {
    const test_machine *on = way->on ? way->on : test_host();
    const ir_target target = on->machine->describe(way->code.level);
    pass_options list = {.passes = way->is_plain ? "inline,calls," LOWERING
                                                 : "inline,calls,simplify," LOWERING,
                         .verify_each = true,
                         .bisect = -1,
                         .target = &target,
                         .library = &cg_math_library,
                         .keep_calls = way->is_called};
    ir_arena arena;
    cg_object object;
    native_outcome outcome = NATIVE_FAILED;
    build_entry(m, ir_import_func(m, f, "callee"));
    if (!pass_run(m, &list)) return NATIVE_FAILED;
    ir_func *entry = ir_func_find(m, "entry");
    if (!entry || !all_native(m)) return NATIVE_CANNOT;
    entry->level = L_GROUP;
    ir_arena_init(&arena, m->cx);
    if (on->machine->compile(m, &way->code, &arena, &object))
        outcome =
            way->code.level > on->most ? NATIVE_CANNOT : execute(f, &object, on, args, result);
    ir_arena_free(&arena);
    return outcome;
}

native_outcome native_call(ir_func *f, const native_way *way, const ir_value *args,
                           ir_value *result) {
    bool passable = is_passable(f->ret) && f->nparams <= 32 && f->module->pointer_bits == 64;
    for (uint32_t n = 0; n < f->nparams; n++) passable &= is_passable(f->param_val[n]->type);
    if (!passable || (f->level == L_GROUP && way->is_called)) return NATIVE_CANNOT;
    ir_module *m = ir_module_new(f->module->cx, "native", 64);
    native_outcome outcome = compile_and_run(m, f, way, args, result);
    ir_module_free(m);
    return outcome;
}

/* interp_call.c — a function evaluated on its own: what tests write as `; eval: @f(1, 2.0) == 3.0`.
 *
 * The host of ir.h in its smallest form: one work-item, variables and globals laid out one after
 * another with gaps, every access checked against the object that holds its first byte.  The first
 * problem ends the call.  Globals without initializer are undefined, all globals may be written
 * unless they are constant.
 */
#include "ir/interp.h"

enum { GAP = 64, FIRST_ADDRESS = 0x1000 };
static const uint64_t BUDGET = 100u * 1000 * 1000;

typedef struct {
    uint64_t base, size;
    uint8_t *bytes, *undef;
    const ir_global *global; /* or NULL: a variable */
    bool ended;
} object;

typedef struct {
    ir_func *f;
    const ir_value *args; /* of the calls, one after another */
    ir_value *results;
    size_t n;
    ir_arena arena;
    ir_vec(object) objects; /* ascending by base */
    uint64_t next;
    uint64_t budget;
    bool failed;
} call;

static void fail(call *c, const ir_inst *i, const char *what) {
    if (c->failed) return;
    c->failed = true;
    c->budget = 0;
    ir_text text = {.arena = &c->arena};
    if (i) ir_print_inst(&text, i);
    ir_report(c->f->module->cx, (ir_message){.severity = IR_ERROR, .file = c->f->module->name},
              "@%s: %s%s%s", c->f->name, what, i ? ": " : "", i ? text.data : "");
}

/* --------------------------------------------------------------------------------------- memory */

static object *add_object(call *c, uint64_t size, uint64_t align) {
    uint64_t base = (c->next + align - 1) / align * align;
    if (size > UINT32_MAX - base) ir_throw(c->f->module->cx, IR_ERR_LIMIT);
    object *o = ir_push(&c->arena, &c->objects);
    *o = (object){.base = base, .size = size};
    o->bytes = ir_alloc(&c->arena, size);
    o->undef = ir_alloc(&c->arena, size);
    memset(o->undef, 1, size);
    c->next = base + size + GAP;
    return o;
}

/* The object with the greatest base that is not above the address. */
static object *find_object(const call *c, uint64_t address) {
    uint32_t low = 0, high = c->objects.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (c->objects.data[mid].base <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? &c->objects.data[low - 1] : NULL;
}

static object *find_bytes(call *c, const ir_access *a) {
    object *o = find_object(c, a->address);
    if (!o || o->ended || a->address - o->base > o->size ||
        o->size - (a->address - o->base) < a->size)
        fail(c, a->at, "access outside of its memory");
    else if (a->address % a->align != 0)
        fail(c, a->at, "misaligned access");
    else
        return o;
    return NULL;
}

static bool read_object(void *user, const ir_access *a, uint8_t *bytes, uint8_t *undef) {
    const object *o = find_bytes(user, a);
    if (!o) return false;
    memcpy(bytes, o->bytes + (a->address - o->base), a->size);
    memcpy(undef, o->undef + (a->address - o->base), a->size);
    return true;
}

static bool write_object(void *user, const ir_access *a, const uint8_t *bytes,
                         const uint8_t *undef) {
    object *o = find_bytes(user, a);
    if (!o) return false;
    if (o->global && o->global->constant) {
        fail(user, a->at, "write to a constant");
        return false;
    }
    memcpy(o->bytes + (a->address - o->base), bytes, a->size);
    memcpy(o->undef + (a->address - o->base), undef, a->size);
    return true;
}

static uint64_t make_variable(void *user, const ir_inst *alloca) {
    call *c = user;
    const ir_var *v = alloca->imm.var;
    return add_object(c, ir_sizeof(c->f->module, v->type), v->align ? v->align : 1)->base;
}

static void end_variables(void *user, uint32_t n) {
    call *c = user;
    for (uint32_t k = c->objects.n; k > 0 && n > 0; k--) {
        object *o = &c->objects.data[k - 1];
        if (o->global || o->ended) continue;
        o->ended = true;
        n--;
    }
}

/* -------------------------------------------------------------------------------------- globals */

static uint64_t global_base(const call *c, const ir_global *g) {
    for (uint32_t k = 0; k < c->objects.n; k++)
        if (c->objects.data[k].global == g) return c->objects.data[k].base;
    return 0;
}

static void add_globals(call *c) {
    const ir_module *m = c->f->module;
    foreach_global (g, m) {
        object *o = add_object(c, ir_sizeof(m, g->type), g->align ? g->align : 1);
        o->global = g;
        if (!g->init) continue;
        memcpy(o->bytes, g->init, o->size);
        memset(o->undef, 0, o->size);
    }
    foreach_global (g, m) {
        object *o = g->nreloc ? find_object(c, global_base(c, g)) : NULL;
        for (uint32_t k = 0; k < g->nreloc; k++) {
            uint64_t p = global_base(c, g->reloc[k].global) + (uint64_t)g->reloc[k].addend;
            for (unsigned b = 0; b < m->pointer_bits / 8; b++)
                o->bytes[g->reloc[k].offset + b] = (uint8_t)(p >> 8 * b);
        }
    }
}

static uint64_t global_address(void *user, const ir_global *g) { return global_base(user, g); }

static int space_of(void *user, uint64_t address) {
    const object *o = find_object(user, address);
    return !o ? -1 : o->global ? (int)o->global->space : IR_PRIVATE;
}

/* -------------------------------------------------------------------------------- the work-item */

static uint64_t query(void *user, const ir_inst *i, unsigned lane) {
    (void)user;
    switch (i->op) {
    case IR_OP_global_id:
    case IR_OP_local_id:
    case IR_OP_group_id:
    case IR_OP_global_offset:
    case IR_OP_global_linear_id:
    case IR_OP_local_linear_id:
    case IR_OP_subgroup_id:
    case IR_OP_subgroup_local_id: return 0;
    case IR_OP_subgroup_mask: { /* equal, ge, gt, le, lt of the only lane */
        bool includes_self = i->imm.bits == 0 || i->imm.bits == 1 || i->imm.bits == 3;
        return lane == 0 && includes_self;
    }
    default: return 1;
    }
}

static int32_t print(void *user, const ir_interp *w, const ir_inst *i) {
    (void)w;
    fail(user, i, "printf has nowhere to print to");
    return -1;
}

static void problem(void *user, ir_problem what, const ir_inst *i, unsigned operand) {
    static const char *const names[] = {
        [IR_PROBLEM_UNDEFINED] = "undefined operand",
        [IR_PROBLEM_DIVISION] = "division by zero or overflow",
        [IR_PROBLEM_ASSUME] = "false assumption",
        [IR_PROBLEM_UNREACHABLE] = "reached what cannot be reached",
        [IR_PROBLEM_NO_BODY] = "call of a function without body",
        [IR_PROBLEM_DEPTH] = "too many nested calls",
        [IR_PROBLEM_UNSUPPORTED] = "not supported by the interpreter",
    };
    (void)operand;
    fail(user, i, names[what]);
}

static void fence(void *user, const ir_inst *i) { (void)user, (void)i; }

/* A single item runs: its barriers do not wait. */
static bool run_alone(call *c, ir_interp *w) {
    c->budget = BUDGET;
    while (!c->failed) {
        switch (ir_interp_run(w, &c->budget)) {
        case IR_RUN_DONE: return !c->failed;
        case IR_RUN_TRAPPED: return false;
        case IR_RUN_MORE: fail(c, NULL, "does not end"); return false;
        case IR_RUN_BLOCKED:
            if (ir_interp_at(w)->op == IR_OP_barrier)
                ir_interp_resume(w, NULL);
            else
                fail(c, ir_interp_at(w), "group operation outside of a group");
            break;
        }
    }
    return false;
}

static void evaluate(void *arg) {
    call *c = arg;
    ir_interp_host host = {
        c,        read_object, write_object, make_variable, end_variables, global_address,
        space_of, query,       print,        fence,         problem};
    add_globals(c);
    ir_interp_code *code = ir_interp_code_new(&c->arena, c->f->module);
    ir_interp *w = ir_interp_new(&c->arena, code, &host);
    uint32_t globals = c->objects.n;
    uint64_t behind = c->next;
    for (size_t k = 0; k < c->n && !c->failed; k++) {
        c->objects.n = globals;
        c->next = behind;
        ir_interp_start(w, c->f, c->args + k * c->f->nparams);
        if (run_alone(c, w) && c->f->ret != IR_VOID) ir_interp_result(w, &c->results[k]);
    }
}

bool ir_interp_calls(ir_func *f, size_t n, const ir_value *args, ir_value *results) {
    call c = {.f = f, .args = args, .results = results, .n = n, .next = FIRST_ADDRESS};
    ir_arena_init(&c.arena, f->module->cx);
    if (ir_is_declaration(f))
        fail(&c, NULL, "has no body");
    else if (!ir_try(f->module->cx, evaluate, &c) && !c.failed) {
        c.failed = true;
        ir_report(f->module->cx, (ir_message){.severity = IR_ERROR, .file = f->module->name},
                  "@%s: out of memory", f->name);
    }
    ir_arena_free(&c.arena);
    return !c.failed;
}

bool ir_interp_call(ir_func *f, const ir_value *args, ir_value *result) {
    return ir_interp_calls(f, 1, args, result);
}

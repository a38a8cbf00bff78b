/* verify_test.c — violations that text cannot express: each test damages a sound function through
 * its pointers and looks for the message.  tests/ir/verify_reject.ir has the others.
 */
#include "ir/build.h"
#include "ir/ir.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static ir_ctx cx;
static ir_module *m;
static ir_func *f, *other;
static ir_block *entry, *left, *right, *join;
static ir_inst *add, *phi;
static char messages[8000];
static unsigned errors;

static const char source[] = "@g: global i64 align 8 = 0\n"
                             "func @f(%c: i1, %x: i32, %p: ptr.global): i32 {\n"
                             "entry:\n  %sum: i32 = add %x, 5\n  %v: i32 = load %p align 4\n"
                             "  br %c, left, right\n"
                             "left:\n  barrier workgroup workgroup seq_cst local\n  jmp join\n"
                             "right:\n  %r: i32 = printf \"x\", %x\n  jmp join\n"
                             "join:\n  %phi: i32 = phi [left: %sum, right: %v]\n"
                             "  %w: i32 = sub %phi, %sum\n  ret %w\n}\n"
                             "func @other(%y: i32): i32 {\nentry:\n  %z: i32 = mul %y, %y\n"
                             "  ret %z\n}\n";

static void keep_message(void *user, const ir_message *msg) {
    size_t n = strlen(messages);
    (void)user;
    errors++;
    ir_format_message(msg, messages + n, sizeof messages - n);
    strcat(messages, "\n");
}

static void setup(void) {
    cx = (ir_ctx){.report = keep_message};
    messages[0] = 0;
    errors = 0;
    m = ir_parse(&cx, "t.ir", source, sizeof source - 1);
    cr_assert(m, "%s", messages);
    f = m->first_func;
    other = f->next;
    entry = f->first;
    left = entry->next;
    right = left->next;
    join = right->next;
    add = entry->first;
    phi = join->first;
    cr_assert(ir_verify_module(m), "%s", messages);
}

static void teardown(void) {
    ir_module_free(m);
    cr_assert_eq(cx.used, 0, "the verifier gives its memory back");
}

TestSuite(verify, .init = setup, .fini = teardown);

static void expect(const char *message) {
    messages[0] = 0;
    errors = 0;
    cr_expect_not(ir_verify_module(m));
    cr_expect(strstr(messages, message), "no '%s' in:\n%s", message, messages);
    cr_expect_leq(errors, 20);
}

/* ---------------------------------------------------------------------------------------- lists */

Test(verify, block_of_instruction) {
    add->block = left;
    expect("@f: the links of a add are broken");
}

Test(verify, backward_link) {
    add->next->prev = NULL;
    expect("the links of a load are broken");
}

Test(verify, last_instruction) {
    join->last = phi;
    expect("the last instruction of a block is not its last");
}

Test(verify, circular_list) {
    join->last->next = phi;
    expect("the links of a phi are broken");
}

Test(verify, backward_link_of_block) {
    right->prev = entry;
    expect("are broken");
}

Test(verify, last_block) {
    f->last = right;
    expect("the last block of the function is not its last");
}

Test(verify, function_of_block) {
    right->func = other;
    expect("are broken");
}

Test(verify, block_id_taken) {
    right->id = left->id;
    expect("was never given out or is taken");
}

Test(verify, value_id_taken) {
    phi->id = add->id;
    expect("two values have id");
}

Test(verify, value_id_out_of_range) {
    add->id = 100000;
    expect("value id 100000 was never given out");
}

Test(verify, unknown_operation) {
    add->op = IR_OP_COUNT;
    expect("there is no operation");
}

Test(verify, parameter_index) {
    f->param_val[1]->imm.index = 2;
    expect("parameter 1 has index 2");
}

Test(verify, leaf_in_a_block) {
    ir_insert(ir_inst_new(f, IR_OP_undef, IR_I32, 0), entry, add);
    expect("a undef belongs to no block");
}

/* ---------------------------------------------------------------------------------------- edges */

Test(verify, terminator_inside) {
    ir_builder b;
    ir_builder_init(&b, f);
    ir_before(&b, add);
    ir_build_raw(&b, IR_OP_ret, IR_VOID, IR_PLAIN, IR_ARGS(f->param_val[1]));
    expect("@f, block entry, 'ret %x': a terminator inside a block");
}

Test(verify, missing_predecessor) {
    join->npred = 1;
    expect("@f, block join: the predecessors are not the blocks whose successor this is");
}

Test(verify, wrong_predecessor) {
    join->pred[0] = entry;
    expect("the predecessors are not the blocks");
}

Test(verify, predecessor_listed_twice) {
    join->pred[0] = right;
    expect("the predecessors are not the blocks");
}

Test(verify, missing_successor) {
    entry->nsucc = 1;
    expect("'br %c, left': 1 successors, not 2");
}

Test(verify, foreign_successor) {
    left->succ[0] = other->first;
    expect("successor 0 is no block of this function");
}

Test(verify, phi_without_argument) {
    ir_drop_arg(phi, 1);
    expect("1 arguments for 2 predecessors");
}

/* ----------------------------------------------------------------------------------------- uses */

Test(verify, foreign_operand) {
    ir_set_arg(add, 0, other->param_val[0]);
    expect("operand 0 is no value of this function");
}

Test(verify, removed_operand) {
    ir_inst *v = add->next, *w = ir_undef(f, IR_I32);
    ir_replace_uses(v, w);
    ir_remove(v);
    phi->arg[1].val = v;
    expect("operand 1 is no value of this function");
}

Test(verify, operand_without_result) {
    ir_set_arg(phi->next, 0, left->first);
    expect("operand 0 has no result");
}

Test(verify, missing_operand) {
    add->arg[0].val = NULL;
    expect("operand 0 of a add is missing");
}

Test(verify, use_not_in_list) {
    add->arg[0].val = f->param_val[2];
    expect("'%x': entry");
}

Test(verify, use_list_too_short) {
    add->uses = add->uses->next;
    add->uses->prev = NULL;
    expect("its use list has 1 entries for 2 uses");
}

Test(verify, use_list_of_a_literal) {
    ir_arg(add, 1)->uses = NULL;
    expect("'i32 5': its use list has 0 entries for 1 uses");
}

Test(verify, use_list_circular) {
    add->uses->next->next = add->uses;
    expect("of its use list is no operand that names it");
}

Test(verify, use_of_another_user) {
    add->arg[0].user = phi;
    expect("operand 0 names another user");
}

Test(verify, too_few_operands) {
    phi->next->nargs = 1;
    expect("sub takes 2 operands, not 1");
}

/* -------------------------------------------------------------------------------- imm and flags */

Test(verify, alignment_of_a_load) {
    add->next->imm.mem.align = 32;
    expect("alignment 2^32 is above 2^31");
}

Test(verify, memory_flags) {
    add->next->imm.mem.flags = 32;
    expect("unknown memory flags 0x20");
    add->next->imm.mem.flags = IR_MEM_LINE;
    expect("'noalias' and 'line' are for loads of addresses");
}

Test(verify, flags) {
    add->flags = 1u << 20;
    expect("unknown flags 0x100000");
}

Test(verify, semantics_of_the_unequal_case) {
    left->first->imm.sync.unequal = IR_SEM_ACQUIRE;
    expect("only atomic_cmpxchg has semantics for the unequal case");
}

Test(verify, missing_string) {
    right->first->imm.string = NULL;
    expect("the string is missing");
}

static ir_inst *insert(ir_op op, ir_type t, ir_imm imm, unsigned n, ir_inst *const *args) {
    ir_builder b;
    ir_builder_init(&b, f);
    ir_before(&b, phi->next);
    return ir_build_raw(&b, op, t, ir_with_imm(imm), (ir_args){n, args});
}

Test(verify, rounding_mode) {
    insert(IR_OP_sitofp, IR_F32, (ir_imm){.round.mode = 9}, 1, &phi);
    expect("unknown rounding mode 9");
}

Test(verify, scope_of_execution) {
    insert(IR_OP_fence, IR_VOID, (ir_imm){.sync = {.exec = 2, .scope = 2}}, 0, NULL);
    expect("only a barrier has a scope of execution");
}

Test(verify, group_imm) {
    insert(IR_OP_group_add, IR_I32,
           (ir_imm){.group = {.scope = IR_SCOPE_SUBGROUP, .op = 7, .uniform = 2, .log_size = 3}}, 1,
           &phi);
    expect("unknown group operation 7");
    expect("only clustered operations have a cluster size");
    expect("uniform is 0 or 1");
}

Test(verify, clusters) {
    const ir_imm huge = {.group = {IR_SCOPE_SUBGROUP, IR_GROUP_CLUSTERED, 0, .log_size = 17}};
    insert(IR_OP_group_add, IR_I32, huge, 1, &phi);
    expect("the cluster is too large");
}

Test(verify, rotation_scans) {
    const ir_imm scan = {.group = {.scope = IR_SCOPE_SUBGROUP, .op = IR_GROUP_INCLUSIVE}};
    insert(IR_OP_group_rotate, IR_I32, scan, 2, (ir_inst *[]){phi, phi});
    expect("group_rotate neither reduces nor scans");
}

Test(verify, missing_imm) {
    insert(IR_OP_alloca, ir_ptr(IR_PRIVATE), (ir_imm){0}, 0, NULL);
    insert(IR_OP_call, IR_I32, (ir_imm){0}, 0, NULL);
    expect("an alloca needs a type of memory");
    expect("the callee is no function of this module");
}

Test(verify, callee_of_another_module) {
    ir_module *n = ir_parse(&cx, "n.ir", source, sizeof source - 1);
    insert(IR_OP_call, IR_I32, (ir_imm){.func = n->last_func}, 1, &phi);
    expect("the callee is no function of this module");
    ir_module_free(n);
}

Test(verify, case_that_is_no_constant) {
    ir_inst *args[] = {f->param_val[1], f->param_val[1]};
    ir_block *succ[] = {join, join};
    ir_remove_edge(right, 0);
    ir_set_arg(right->last->prev, 0, f->param_val[1]);
    ir_remove(right->last);
    right->nsucc = 0;
    ir_builder b;
    ir_builder_init(&b, f);
    ir_at_end(&b, right);
    right->succ = NULL;
    ir_set_succs(right, 2, succ);
    ir_build_raw(&b, IR_OP_switch, IR_VOID, IR_PLAIN, (ir_args){2, args});
    for (int i = 0; i < 2; i++) phi = ir_append_arg(phi, add->next);
    expect("case 1 is no constant");
}

/* --------------------------------------------------------------------------- functions, globals */

Test(verify, function_facts) {
    f->level = L_SPMD | L_GROUP;
    f->flags |= 1u << 20;
    f->attrs.float_controls[1] = 0x80;
    f->param[0].attrs = 1u << 20;
    f->param[1].byval_size = 8;
    f->param[1].special = 1;
    expect("0x3 is no level");
    expect("unknown function flags 0x100000");
    expect("unknown float controls 0x80");
    expect("parameter 0 has unknown attributes 0x100000");
    expect("parameter 1 has a size and is not passed by value");
    expect("parameter 1 is of a special member, and of no struct");
}

Test(verify, parameters_with_the_bytes_of_a_struct) {
    f->param[0].attrs = IR_PARAM_SPILLED;
    expect("parameter 0 has the bytes of a struct and is no ptr.const");
}

Test(verify, refusal_without_reason) {
    ir_func_drop_body(other);
    other->flags |= IR_FUNC_REFUSED;
    expect("the reason for the refusal is missing");
}

Test(verify, name_taken) {
    other->name = "g";
    expect("the name @g is taken twice");
}

Test(verify, address_of_nothing) {
    ir_reloc r = {.offset = 0};
    m->first_global->reloc = &r;
    m->first_global->nreloc = 1;
    expect("@g: an address of no global of this module");
}

Test(verify, address_without_initializer) {
    ir_reloc r = {.offset = 0, .global = m->first_global};
    m->first_global->init = NULL;
    m->first_global->reloc = &r;
    m->first_global->nreloc = 1;
    expect("@g has addresses and no initializer");
}

Test(verify, global_flags) {
    m->first_global->flags = IR_FUNC_KERNEL;
    expect("@g has unknown flags 0x1");
}

/* -------------------------------------------------------------------------------------- reports */

Test(verify, source_place_is_named) {
    *ir_push(&m->arena, &m->files) = "a.cl";
    *ir_push(&m->arena, &m->lines) = (ir_line){.word = 16, .line = 7, .column = 2};
    add->loc = 17;
    add->flags = IR_FAST;
    expect("t.ir: word 0x11, a.cl:7: error: @f, block entry, '%sum: i32 = add %x, 5 fast'");
}

Test(verify, one_function_alone) {
    add->flags = IR_FAST;
    cr_assert(ir_verify_func(other));
    cr_assert_not(ir_verify_func(f));
}

Test(verify, long_instructions_are_cut_and_errors_counted) {
    ir_inst *args[64];
    for (int i = 0; i < 64; i++) args[i] = phi;
    for (int i = 0; i < 30; i++) {
        ir_inst *v = insert(IR_OP_vec, ir_vector(IR_F32, 64), (ir_imm){0}, 64, args);
        ir_set_name(f, v, "a_name_that_is_not_short");
    }
    expect("…': operand 0 has type i32, not f32");
    cr_assert_eq(errors, 20);
}

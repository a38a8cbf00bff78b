/* check_printf.c — printf of a work-item: its operands as what printf.c prints.
 *
 * A conversion that is malformed or lacks its argument ends the output, and the kernel gets -1.
 */
#include "ir/eval.h"
#include "runtime/devices/check/check_impl.h"
#include "runtime/devices/printf.h"

typedef struct {
    check_state *l;
    const ir_interp *run;
    const ir_inst *at;
    unsigned next;  /* operand */
    ir_space space; /* of the string */
} printer;

static char read_char(void *user, uint64_t address) {
    const printer *p = user;
    uint8_t byte = 0, undef = 0;
    ir_access a = {.at = p->at,
                   .address = address,
                   .site = ir_interp_site_at(p->run),
                   .size = 1,
                   .align = 1,
                   .space = p->space,
                   .kind = IR_ACCESS_READ};
    return check_read(p->l, &a, &byte, &undef) ? (char)byte : 0;
}

static bool fits_type(const rt_conversion *s, ir_type t) {
    if (s->lanes != ir_lanes(t)) return false;
    if (rt_is_float_conversion(s)) return ir_is_float(ir_elem(t));
    if (s->conversion == 's') return ir_is_ptr(t);
    if (s->conversion == 'p') return ir_is_ptr(t) || ir_is_int(t);
    return ir_is_int(ir_elem(t));
}

static uint64_t double_bits(ir_type elem, uint64_t bits) {
    double d = ir_fp_to_double(ir_kind_of(elem), bits);
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static bool take_operand(void *user, const rt_conversion *s, rt_print_value *out) {
    printer *p = user;
    unsigned n = p->next++;
    ir_value v;
    if (n >= p->at->nargs || !fits_type(s, ir_arg(p->at, n)->type)) return false;
    ir_type t = ir_arg(p->at, n)->type, elem = ir_elem(t);
    ir_interp_operand(p->run, n, &v);
    bool undef = false;
    for (unsigned lane = 0; lane < s->lanes; lane++) {
        out->lane[lane] = ir_is_float(elem) ? double_bits(elem, v.bits[lane]) : v.bits[lane];
        undef |= v.undef[lane] != 0;
    }
    out->width = ir_bits(p->l->setup->kernel->module, elem);
    if (ir_is_ptr(t)) p->space = ir_space_of(t);
    if (undef) p->l->host.problem(p->l, IR_PROBLEM_UNDEFINED, p->at, n);
    return true;
}

int32_t check_print(void *user, const ir_interp *w, const ir_inst *i) {
    check_state *l = user;
    printer p = {.l = l, .run = w, .at = i};
    rt_print_source source = {take_operand, read_char, &p};
    l->scratch.printed.arena = l->scratch.string.arena = l->arena;
    l->scratch.printed.n = 0;
    bool ok = rt_print(&l->scratch.printed, &l->scratch.string, i->imm.string, &source);
    if (l->setup->options.print && l->scratch.printed.n)
        l->setup->options.print(l->setup->options.user, l->scratch.printed.data,
                                l->scratch.printed.n);
    return ok ? 0 : -1;
}

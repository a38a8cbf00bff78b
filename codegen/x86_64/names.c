/* names.c — names of registers and instructions of x86-64, for dumps at levels `machine` and
 * `allocated`.  Assembly of encoded code is printed by print.c.
 */
#include "codegen/x86_64/x86.h"

const char *x86_reg_name(const cg_target *t, unsigned class, unsigned reg) {
    static const char *const general[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    static const char *const masks[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
    static const char vectors[][4] = {"v0",  "v1",  "v2",  "v3",  "v4",  "v5",  "v6",  "v7",
                                      "v8",  "v9",  "v10", "v11", "v12", "v13", "v14", "v15",
                                      "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
                                      "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"};
    (void)t;
    if (class == CLASS_GENERAL) return general[reg];
    return class == CLASS_MASK ? masks[reg] : vectors[reg];
}

/* A comparison is one instruction with the jump, setcc or cmov that reads its flags. */
void x86_put_name(const cg_target *t, const ir_inst *i, ir_text *out) {
    static const char *const conditions[] = {"o",  "no", "b",  "ae", "e",    "ne",
                                             "be", "a",  "s",  "ns", "p",    "np",
                                             "l",  "ge", "le", "g",  "e+np", "ne+p"};
    (void)t;
    const char *condition = conditions[x86_cc_of(i)];
    if (x86_has_lock(i)) ir_put(out, "lock ");
    ir_put(out, x86_mnemonics[x86_forms[x86_row_of(i)].mnemonic]);
    if (i->op == IR_OP_mach_br)
        ir_putf(out, ", j%s", condition);
    else if (x86_kind_of(i) == MACH_SET)
        ir_putf(out, ", set%s", condition);
    else if (x86_kind_of(i) == MACH_CMOV)
        ir_putf(out, ", cmov%s", condition);
}

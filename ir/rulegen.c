/* rulegen.c — host tool: turns a file of rewrite rules into C.
 *     rulegen simplify.rules out.inc pass
 *
 *   set       := "types" name "=" types
 *   rule      := pattern [":" types ["->" types]] { "&&" ["!"] predicate } "=>" result
 *   pattern   := [name "@"] "(" ops { argument } ["..."] ")"
 *   argument  := pattern | name | Constant | literal
 *   ops       := op | "(" op { "|" op } ")"
 *   predicate := c_function "(" name { "," name } ")"
 *   result    := name | literal | "(" literal { "|" literal } ")"
 *              | "=" c_function "(" name { "," name } ")"
 *              | "(" ops ["!"] [":" (name | type)] { result } ")"
 *   type      := i32 | i64 | int | float
 *   types     := (name | i32 | vi32 | none ...) { "|" ... }
 *   literal   := 0 | -1 | 1.5 | -0.0 | inf | -inf | true | false | undef
 *
 * A comment goes from ";" to the end of the line.
 *
 * Lower-case names are values; the same name twice means the same value.  Names that begin with a
 * capital letter are constants, scalar or vector.  A number matches a constant of that value in the
 * type at hand: integers those of integer and pointer type, floats those of float type, true and
 * false those of i1; a vector must have it in every lane.  `v` is the instruction itself, name@( )
 * names an inner one, `b` is the builder.  `...` ends the operands of a variadic op early.
 *
 * A family (a|b|c) makes one rule per member; all families of a rule vary together.  Commutative
 * operands match in both orders; constants are on their right, where the builder puts them.
 *
 * Types after a pattern are those that v works on (ir/rule_types.h), `vi32` being vectors of i32;
 * conversions and choices say the type of operand 0 and, after an arrow, that of v.  In a file that
 * names sets of types every rule must say its types, so that one that is written for scalars never
 * sees a vector.
 *
 * A result op has the type of v at the root, of its first operand inside (select: of an arm; i1 for
 * comparisons, any and all), and of `name` after a colon; a type there has the lanes of the first
 * operand, and int and float its width too.  It carries the float flags that all matched float ops
 * share, and with "!" the integer flags too.  Conversions take the rounding of v if it has one.
 * Helpers (=f) get the builder first and may return NULL: then the rule does not fire.
 *
 * The first rule in the file that matches wins.  It is an error, reported as file:line, when an op
 * or a name is unknown, an operand count is wrong, a type is one that the op does not have, or a
 * rule can never fire because an earlier one without conditions matches all that it does.
 *
 * The output is PREFIX_apply_rules(builder, v, PREFIX_ctx *) and PREFIX_rule_info(rule), which
 * gives NULL after the last rule (ir/rule_types.h).  It is included by the file that defines the
 * predicates and helpers, operand, matches_int, matches_float, matches_bool, int_literal,
 * float_literal, bool_like and what makes the types after colons (i32_like …), and fire, which
 * every rewrite goes through.
 */
#include "ir/rulegen.h"

#include <stdlib.h>

const ir_op_info rulegen_ops[IR_OP_COUNT] = {
#define OP(name, spirv, rule, nargs, imm, levels, flags, eval, doc)                                \
    [IR_OP_##name] = {#name, spirv, rule, nargs, imm, levels, flags, "", doc},
#include "ir/ops.def"
#undef OP
};

void rulegen_fail(rule_file *f, unsigned line, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "%s:%u: error: ", f->path, line);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    f->errors++;
}

void *rulegen_alloc(size_t bytes) {
    void *p = calloc(1, bytes);
    if (!p) abort();
    return p;
}

const char *rulegen_text(const char *fmt, ...) {
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t n = (size_t)vsnprintf(&(char){0}, 1, fmt, ap) + 1;
    char *text = rulegen_alloc(n);
    vsnprintf(text, n, fmt, again);
    va_end(again);
    va_end(ap);
    return text;
}

static char *read_file(const char *path) {
    enum { MAX_BYTES = 1 << 20 };
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *data = rulegen_alloc(MAX_BYTES + 1);
    size_t n = fread(data, 1, MAX_BYTES, f);
    fclose(f);
    return n < MAX_BYTES ? data : NULL;
}

static bool write_file(rule_file *f, const char *path) {
    FILE *out = fopen(path, "w");
    if (!out) return false;
    rulegen_emit(f, out);
    return fclose(out) == 0;
}

int main(int argc, char **argv) {
    static rule_file f;
    if (argc != 4) {
        fprintf(stderr, "usage: rulegen FILE.rules OUT.inc PREFIX\n");
        return 2;
    }
    const char *slash = strrchr(argv[1], '/'), *text = read_file(argv[1]);
    f.path = argv[1];
    f.prefix = argv[3];
    f.name = slash ? slash + 1 : argv[1];
    if (!text) {
        fprintf(stderr, "rulegen: cannot read %s\n", argv[1]);
        return 1;
    }
    rulegen_read(&f, text);
    if (f.errors) return 1;
    if (!write_file(&f, argv[2])) {
        fprintf(stderr, "rulegen: cannot write %s\n", argv[2]);
        return 1;
    }
    if (f.errors) remove(argv[2]);
    return f.errors != 0;
}

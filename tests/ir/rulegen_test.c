/* rulegen_test.c — what rulegen says about rules that are wrong, with file and line, and that it
 * accepts the rules that are in use.  Runs the tool: $RULEGEN, or build/rulegen.
 */
#include "tests/temporary.h"

#include <criterion/criterion.h>
#include <string.h>

/* The first line that rulegen prints about a file; *status is what it returned. */
static void run_on(const char *path, char *line, int size, int *status) {
    const char *tool = getenv("RULEGEN") ? getenv("RULEGEN") : "build/rulegen";
    char command[1000], out[TEMPORARY_NAME];
    cr_assert_eq(close(temporary_file(out)), 0, "%s can be made", out);
    snprintf(command, sizeof command, "%s %s %s pass 2>&1", tool, path, out);
    FILE *p = popen(command, "r");
    cr_assert_not_null(p);
    line[0] = 0;
    if (!fgets(line, size, p)) line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    *status = pclose(p);
    unlink(out);
}

static void expect_error(const char *rules, const char *message) {
    char path[TEMPORARY_NAME], line[600], want[600];
    int status, fd = temporary_file(path);
    cr_assert_geq(fd, 0, "%s can be made", path);
    cr_assert_eq(write(fd, rules, strlen(rules)), (ssize_t)strlen(rules));
    close(fd);
    run_on(path, line, sizeof line, &status);
    unlink(path);
    snprintf(want, sizeof want, "%s:%s", path, message);
    cr_expect_str_eq(line, want);
    cr_expect_neq(status, 0);
}

Test(rulegen, accepts_the_rules_in_use) {
    char line[300];
    int status;
    run_on("passes/scalar/simplify.rules", line, sizeof line, &status);
    cr_expect_eq(status, 0, "%s", line);
    run_on("codegen/x86_64/isel.rules", line, sizeof line, &status);
    cr_expect_eq(status, 0, "%s", line);
}

Test(rulegen, names_what_is_unknown) {
    expect_error("; one\n(plus x 0) => x\n", "2: error: unknown op \"plus\"");
    expect_error("(add x 0) => y\n", "1: error: \"y\" is not bound by the pattern");
    expect_error("(add x C) && is_pow2(D) => x\n", "1: error: \"D\" is not bound by the pattern");
    expect_error("(trunc x) => (trunc:w x)\n", "1: error: \"w\" is not bound by the pattern");
    expect_error("(add v 0) => v\n", "1: error: \"v\" cannot be bound");
}

Test(rulegen, counts_operands) {
    expect_error("(add x) => x\n", "1: error: add takes 2 operands");
    expect_error("\n\n(fneg x y) => x\n", "3: error: fneg takes 1 operands");
    expect_error("(add x y ...) => x\n", "1: error: add takes 2 operands");
}

Test(rulegen, knows_what_a_rule_can_build) {
    expect_error("(add x y) => (load x)\n", "1: error: a rule cannot build load; a helper can");
    expect_error("(add x y) => (vec x y)\n", "1: error: a rule cannot build vec; a helper can");
    expect_error("(ult x y) => (ult 1 2)\n", "1: error: the type of \"1\" is not known");
    expect_error("(eq (add 1 x) y) => true\n", "1: error: constants belong on the right of add");
}

Test(rulegen, finds_rules_that_never_fire) {
    expect_error("(add x C) => x\n(add x 0) => x\n",
                 "2: error: never fires: line 1 matches all of it");
    expect_error("(and x y) => x\n(and (or z z) C) => z\n",
                 "2: error: never fires: line 1 matches all of it");
    expect_error("(mul x (add y x)) => x\n(mul (add p q) p) => p\n",
                 "2: error: never fires: line 1 matches all of it");
}

Test(rulegen, families_vary_together) {
    expect_error("((add|sub) x ((and|or|xor) x y)) => x\n",
                 "1: error: families of different sizes");
    expect_error("(add x y) => ((and|or) x y)\n", "1: error: families of different sizes");
}

Test(rulegen, asks_for_types) {
    expect_error("types int = i32|i64\n(add x y) => x\n",
                 "2: error: the rule does not say which types it takes");
    expect_error("(add x y) : i32|f32 => x\n", "1: error: add does not work on all of these types");
    expect_error("(add x y) : i1 => x\n", "1: error: add does not work on all of these types");
    expect_error("(fadd x y) : vf32|vi32 => x\n",
                 "1: error: fadd does not work on all of these types");
    expect_error("(zext x) : i8 -> f32 => x\n",
                 "1: error: zext does not work on all of these types");
    expect_error("(select c x y) : i32 => x\n",
                 "1: error: select does not work on all of these types");
    expect_error("(any x) : i1 => x\n", "1: error: any does not work on all of these types");
    expect_error("(inttoptr x) : vi64 -> ptr => x\n",
                 "1: error: inttoptr does not work on all of these types");
    expect_error("(add x y) : i32 -> i64 => x\n", "1: error: add works on one type");
    expect_error("(zext x) : i32 => x\n", "1: error: zext works on two types");
    expect_error("(add x y) : i31 => x\n", "1: error: a type is expected before \"i31\"");
    expect_error("(add x C) : i32|i64 => x\n(add x 0) : i64 => x\n",
                 "2: error: never fires: line 1 matches all of it");
}

Test(rulegen, stops_at_errors_of_syntax) {
    expect_error("(add x 0) = x\n", "1: error: a syntax error before \"=\"");
    expect_error("(add x 0 => x\n", "1: error: a name is expected before \"=>\"");
    expect_error("add x 0 => x\n", "1: error: \"(\" expected before \"add\"");
}

/* run_passes.c — passes under the golden runner, and what printers among them write.
 *
 * A printer writes comments, a section for each function that begins with its name:
 *   ; @saxpy on {512/64}
 *   ;   reads 4 bytes at %x + 4*global_id.0, always
 *
 * Machine code is told in the same way.
 */
#include "tests/machines.h"
#include "tests/passes/ranges.h"
#include "tests/run.h"

#include <stdlib.h>

static void keep_text(void *user, const char *pass, const char *text) {
    (void)pass;
    ir_put(user, text);
}

/* Describes "x86_64:v3" or "ptx:sm_90"; false: there is no such machine. */
static bool describe_target(const char *name, ir_target *out) {
    unsigned level = 0;
    cg_ptx_options gpu = {0};
    if (sscanf(name, "ptx:sm_%u", &gpu.sm) == 1) return *out = cg_ptx_target(&gpu), true;
    const test_machine *t = test_find_level(name, &level);
    if (t) *out = t->machine->describe(level);
    return t;
}

bool run_passes(runner *r, ir_module *m, const run_setting *setting, ir_text *said) {
    ir_range range;
    ir_target target;
    pass_options o = {.passes = setting->passes, .verify_each = true, .bisect = -1, .coarsen = 4};
    *said = (ir_text){.arena = &r->arena};
    o.dump = keep_text;
    o.library = &cg_math_library;
    o.dump_user = said;
    if (setting->lanes) o.lanes = (unsigned)strtoul(setting->lanes, NULL, 10);
    if (setting->range) range = parse_range(setting->range), o.range = &range;
    if (setting->level) {
        if (!describe_target(setting->level, &target))
            return ir_error(&r->cx, "there is no machine %s", setting->level);
        o.target = &target;
    }
    return pass_run(m, &o);
}

/* --------------------------------------------------------------------------------- machine code */

static void say_code(const ir_text *listing, ir_text *said) {
    for (const char *s = listing->data; *s;) {
        size_t n = strcspn(s, "\n");
        bool head = *s != ' ' && *s != '.';
        ir_put(said, head ? "; @" : ";   ");
        ir_putn(said, s, head ? n - 1 : n); /* without the colon */
        ir_put(said, "\n");
        s += n + (s[n] == '\n');
    }
}

bool run_compiler(runner *r, ir_module *m, const char *level, ir_text *said) {
    ir_text listing = {.arena = &r->arena};
    cg_options o = {.regalloc.check = true, .listing = &listing};
    const cg_machine *machine = test_find_level(level, &o.level)->machine;
    const ir_target target = machine->describe(o.level);
    const pass_options list = {
        .passes = "legalize_vectors,gvn,dce", .verify_each = true, .bisect = -1, .target = &target};
    cg_object object;
    *said = (ir_text){.arena = &r->arena};
    ir_put(&listing, "");
    foreach_func (f, m) f->level = L_GROUP;
    bool ok = pass_run(m, &list) && machine->compile(m, &o, &r->arena, &object);
    if (ok) say_code(&listing, said);
    return ok;
}

/* ------------------------------------------------------------------------------------- sections */

static const char *next_line(const char *s) { return s + strcspn(s, "\n") + 1; }

const char *run_section(runner *r, const ir_text *said, const char *name) {
    ir_text out = {.arena = &r->arena};
    const char *head = ir_sprintf(&r->arena, "; @%s", name), *s = said->data;
    size_t n = strlen(head);
    while (*s && (strncmp(s, head, n) != 0 || (s[n] != ' ' && s[n] != '\n'))) s = next_line(s);
    ir_put(&out, "");
    if (!*s) return out.data;
    for (s = next_line(s); strncmp(s, ";   ", 4) == 0; s = next_line(s))
        ir_putn(&out, s + 4, (size_t)(next_line(s) - s) - 4);
    return out.data;
}

/* template_test.c — what eval lines do not show of the template target: that the machine notices
 * wrong encodings, calls of C functions, and what object files say of frames.
 */
#include "ir/ir.h"
#include "tests/codegen/template/interpret.h"
#include "tests/report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

extern const cg_machine cg_machine_template;

/* Everything in the code of @f has a part in the two results. */
static const char text[] = "func @f(%p: ptr.global) {\n"
                           "entry:\n"
                           "  %v: ptr.private = alloca [4 x i64] align 16\n"
                           "  %a: i64 = load %p align 8\n"
                           "  %b: i64 = mul %a, 25214903917\n"
                           "  store %b, %v align 8\n"
                           "  %more: i1 = ult %a, %b\n"
                           "  br %more, one, two\n"
                           "one:\n"
                           "  call @scale(%p)\n"
                           "  jmp two\n"
                           "two:\n"
                           "  %c: i64 = load %v align 8\n"
                           "  %d: i64 = xor %c, %a\n"
                           "  %q: ptr.global = ptradd %p, 8\n"
                           "  store %d, %q align 8\n"
                           "  ret\n"
                           "}\n"
                           "func @scale(%p: ptr.global) {\n"
                           "entry:\n"
                           "  %x: f64 = load %p align 8\n"
                           "  %y: f64 = fmul %x, f64 3.25\n"
                           "  store %y, %p align 8\n"
                           "  ret\n"
                           "}\n";

typedef struct {
    ir_ctx cx;
    const char *text;
    ir_module *m;
    cg_object object;
} program;

static void make(void *user) {
    program *p = user;
    const cg_options o = {.level = 1, .regalloc.check = true};
    p->m = ir_parse(&p->cx, "program", p->text, strlen(p->text));
    cr_assert_not_null(p->m);
    foreach_func (f, p->m) f->level = L_GROUP;
    cr_assert(cg_machine_template.compile(p->m, &o, &p->m->arena, &p->object));
}

static void compile(program *p, const char *source) {
    *p = (program){.cx.report = print_message, .text = source};
    cr_assert(ir_try(&p->cx, make, p));
}

static uint32_t symbol_of(const cg_object *o, const char *name) {
    uint32_t n = 0;
    while (strcmp(o->symbols.data[n].name, name) != 0) n++;
    return n;
}

/* Does @f give what it should for a? */
static bool is_right_for(const program *p, uint64_t a) {
    const uint64_t b = a * 25214903917;
    uint64_t data[2] = {a, 0};
    double x, y;
    if (template_interpret(&p->object, symbol_of(&p->object, "f"), data, sizeof data)) return false;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &data[0], sizeof y);
    return y == (a < b ? x * 3.25 : x) && data[1] == (a ^ b);
}

/* Both ways of the branch. */
static bool is_right(const program *p) {
    return is_right_for(p, 0x4008000000000001) && is_right_for(p, 0x7fd7654321000007);
}

/* Each bit of the code is turned, one at a time.  A few do not matter: those that make a frame
 * larger, a copy wider, or a comparison another one that gives the same here. */
Test(template, every_bit_of_an_instruction_matters) {
    program p;
    compile(&p, text);
    unsigned unnoticed = 0, bits = 0;
    cr_assert(is_right(&p));
    for (uint32_t n = 0; n < p.object.symbols.n; n++) {
        const cg_symbol *s = &p.object.symbols.data[n];
        uint8_t *code = p.object.bytes[CG_TEXT] + s->at;
        for (uint32_t bit = 0; bit < 8 * s->size; bit++, bits++) {
            code[bit / 8] ^= (uint8_t)(1u << bit % 8);
            unnoticed += is_right(&p);
            code[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
    cr_assert(is_right(&p));
    cr_expect_lt(unnoticed, bits / 25, "%u of %u bits", unnoticed, bits);
    ir_module_free(p.m);
}

static int64_t mix(int64_t a, int64_t b) { return a * 10 + b; }

Test(template, calls_a_function_of_c) {
    program p;
    compile(&p, "func @f(%p: ptr.global) {\n"
                "entry:\n"
                "  %at: ptr.global = load %p align 8\n"
                "  %n: i64 = load %p align 8\n"
                "  %r: i32 = host_call %at, i64 4, i64 2\n"
                "  %w: i64 = zext %r\n"
                "  %s: i64 = add %n, %w\n"
                "  store %s, %p align 8\n"
                "  ret\n"
                "}\n");
    int64_t (*const function)(int64_t, int64_t) = mix;
    uint64_t data, address;
    memcpy(&address, &function, sizeof address);
    template_outside = data = address;
    cr_assert_null(template_interpret(&p.object, 0, &data, sizeof data));
    cr_expect_eq(data, address + 42);
    ir_module_free(p.m);
}

/* What readelf finds in the object file, in one line. */
static void read_frames(program *p, char *out, size_t most) {
    const cg_file_options o = {.elf = cg_machine_template.elf};
    char path[] = "/tmp/template-XXXXXX", command[100];
    uint8_t *bytes;
    size_t size;
    cg_write_object(&p->object, &o, &p->m->arena, &bytes, &size);
    int file = mkstemp(path);
    cr_assert_eq(write(file, bytes, size), (ssize_t)size);
    close(file);
    snprintf(command, sizeof command, "readelf -wf %s | tr -s ' \\n' ' '", path);
    FILE *f = popen(command, "r");
    out[fread(out, 1, most - 1, f)] = 0;
    pclose(f);
    unlink(path);
}

/* The return address is in lr until it is pushed, above fp. */
Test(template, frames_can_be_unwound) {
    static char found[1 << 14];
    program p;
    compile(&p, text);
    read_frames(&p, found, sizeof found);
    cr_expect(strstr(found, "Return address column: 13"), "%s", found);
    cr_expect(strstr(found, "DW_CFA_def_cfa: r15 ofs 0 DW_CFA_nop"), "%s", found);
    cr_expect(strstr(found, "DW_CFA_def_cfa_offset: 16 DW_CFA_offset_extended: r14 at cfa-16 "
                            "DW_CFA_offset_extended: r13 at cfa-8 DW_CFA_advance_loc4: 8"),
              "%s", found);
    cr_expect(strstr(found, "DW_CFA_def_cfa_register: r14"), "%s", found);
    cr_expect(strstr(found, "DW_CFA_offset_extended: r9 at cfa-24"), "%s", found);
    ir_module_free(p.m);
}

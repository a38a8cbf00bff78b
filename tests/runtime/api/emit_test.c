/* emit_test.c — modules as object files: C programs launch their kernels, debuggers know their
 * lines. */
#define _GNU_SOURCE
#include "tests/runtime/bench.h"

static const char kernels[] =
    "target 64\n"
    "file \"saxpy.cl\"\n"
    "line 10 0 3 1\n"
    "line 20 0 4 9\n"
    "@calls: global i32 = 0\n"
    "kernel @saxpy(%x: ptr.global of f32, %y: ptr.global of f32, %a: f32) !10 {\n"
    "entry:\n"
    "  %i: i64 = global_id 0 !10\n"
    "  %o: i64 = shl %i, 2 !10\n"
    "  %p: ptr.global = ptradd %x, %o inbounds !10\n"
    "  %q: ptr.global = ptradd %y, %o inbounds !10\n"
    "  %u: f32 = load %p align 4 !20\n"
    "  %v: f32 = load %q align 4 !20\n"
    "  %m: f32 = fmul %a, %u !20\n"
    "  %r: f32 = fadd %m, %v !20\n"
    "  store %r, %q align 4 !20\n"
    "  ret\n"
    "}\n"
    "kernel @count() {\n"
    "entry:\n"
    "  %old: i32 = atomic_add @calls, 1 device relaxed\n"
    "  ret\n"
    "}\n";

/* The program of docs/COMMAND.md. */
static const char program[] =
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "#include \"runtime/spvfuse.h\"\n"
    "extern const spvf_native_kernel spvf_kernels[];\n"
    "static void saxpy(float a, float *x, float *y) {\n"
    "    void *args[] = {x, y, &a};\n"
    "    spvf_group_info all = {.group_end = {10, 1, 1}, .num_groups = {10, 1, 1}, .work_dim = 1,\n"
    "                           .local_size = {100, 1, 1}, .global_size = {1000, 1, 1}};\n"
    "    spvf_kernels[0].run_block(&all, args);\n"
    "}\n"
    "int main(void) {\n"
    "    static float x[1000], y[1000];\n"
    "    for (int i = 0; i < 1000; i++) x[i] = (float)i, y[i] = 1;\n"
    "    saxpy(2, x, y);\n"
    "    for (int i = 0; i < 1000; i++)\n"
    "        if (y[i] != 2 * (float)i + 1) return 1;\n"
    "    return spvf_kernels[0].arg_count != 3 || strcmp(spvf_kernels[1].name, \"count\") || "
    "spvf_kernels[2].name;\n"
    "}\n";

static char tree[TEMPORARY_NAME];

static void set_up(void) {
    cr_assert_not_null(getcwd(tree, sizeof tree));
    in_folder_with(kernels);
}

static void tear_down(void) {
    remove("k.o");
    remove("main.c");
    remove("main");
    leave_folder();
}

TestSuite(emit, .init = set_up, .fini = tear_down);

static void save_object(const char *target) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernels);
    spvf_blob blob;
    cr_assert_eq(spvf_module_emit(m, target, &blob), SPVF_OK, "%s", messages);
    FILE *f = fopen("k.o", "wb");
    cr_assert(f && fwrite(blob.data, 1, blob.size, f) == blob.size && fclose(f) == 0);
    spvf_blob_destroy(&blob);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_expect_eq(bytes_held, 0);
}

static void expect_program(void) {
    char command[3 * TEMPORARY_NAME];
    write_file("main.c", program);
    snprintf(command, sizeof command, "gcc -I'%s' main.c k.o -o main && ./main", tree);
    cr_expect_eq(system(command), 0, "%s", command);
}

Test(emit, a_program_launches_kernels) {
    static const char *const targets[] = {"x86_64:v2", "x86_64:v2,regalloc=stack",
                                          "x86_64:v2,calls"};
    for (int i = 0; i < 3; i++) {
        save_object(targets[i]);
        expect_program();
    }
}

static void expect_output(const char *command, const char *want) {
    static char text[1 << 20];
    FILE *p = popen(command, "r");
    cr_assert_not_null(p);
    text[fread(text, 1, sizeof text - 1, p)] = 0;
    cr_expect_eq(pclose(p), 0);
    cr_expect(strstr(text, want), "no %s in %s", want, text);
}

Test(emit, lines) {
    save_object("x86_64:v3,lines");
    expect_output("objdump -dl k.o", "saxpy.cl:4\n");
    expect_output("addr2line -e k.o 0", "saxpy.cl:4\n");
}

Test(emit, native_cpu) {
    save_object("x86_64,abi=nativecpu");
    expect_output("nm k.o", "T saxpy.SYCLNCPU\n");
    expect_output("nm k.o", "D __sycl_native_cpu_decls\n");
}

Test(emit, what_cannot_run_there) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, "target 64\n"
                                  "@away: global i32 import\n"
                                  "kernel @k() {\n"
                                  "entry:\n"
                                  "  store i32 1, @away align 4\n"
                                  "  ret\n"
                                  "}\n");
    spvf_blob blob;
    cr_expect_eq(spvf_module_emit(m, "x86_64", &blob), SPVF_ERROR_REFUSED);
    cr_expect_str_eq(messages,
                     "k.ir: warning: kernel 'k' is left out: @away is imported and has no "
                     "definition\nerror: no kernel is left\n");
    cr_expect_null(blob.data);
    cr_expect_eq(spvf_module_emit(m, "x86_64:v5", &blob), SPVF_ERROR_ARGUMENT);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

/* Passes, stages of the target and analyses, each of them once. */
Test(emit, times) {
    static const char *const stages[] = {"memopt", "dominators", "select", "liveness",
                                         "spill",  "assign",     "emit"};
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, kernels);
    spvf_blob blob;
    cr_assert_eq(spvf_module_emit(m, "x86_64,time", &blob), SPVF_OK, "%s", messages);
    for (unsigned k = 0; k < sizeof stages / sizeof *stages; k++) {
        char start[64];
        snprintf(start, sizeof start, "note: native code: %s: ", stages[k]);
        const char *note = strstr(messages, start);
        cr_expect(note && !strstr(note + 1, start), "%s in %s", stages[k], messages);
    }
    spvf_blob_destroy(&blob);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

/* What a launch of one kernel would refuse does not keep the others from being compiled. */
Test(emit, kernels_that_cannot_be_made_are_left_out) {
    static const char warning[] =
        "k.ir: warning: kernel 'all' is left out: it cannot run on a CPU: "
        "it has a barrier for more than a work-group\n";
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, "target 64\n"
                                  "kernel @all(%p: ptr.global) {\n"
                                  "entry:\n"
                                  "  barrier device device seq_cst global\n"
                                  "  store i32 1, %p align 4\n"
                                  "  ret\n"
                                  "}\n"
                                  "kernel @one(%p: ptr.global) {\n"
                                  "entry:\n"
                                  "  store i32 1, %p align 4\n"
                                  "  ret\n"
                                  "}\n");
    spvf_blob blob;
    cr_expect_eq(spvf_module_emit(m, "x86_64,text", &blob), SPVF_OK, "%s", messages);
    cr_expect_str_eq(messages, warning);
    cr_expect(strstr(blob.data, "one.block:\n"));
    cr_expect_null(strstr(blob.data, "all.block:"));
    spvf_blob_destroy(&blob);
    cr_expect_eq(spvf_module_emit(m, "x86_64", &blob), SPVF_OK, "%s", messages);
    cr_expect(blob.size && memmem(blob.data, blob.size, "one.block", sizeof "one.block"));
    spvf_blob_destroy(&blob);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
    cr_expect_eq(bytes_held, 0);
}

/* The message names the kernel once, and the line of the variable or of what uses it. */
Test(emit, private_memory_that_is_too_large_has_a_line) {
    spvf_context *c = new_context();
    spvf_module *m = load_text(c, "target 64\n"
                                  "file \"k.cl\"\n"
                                  "line 10 0 7 1\n"
                                  "line 20 0 9 1\n"
                                  "kernel @k(%p: ptr.global) {\n"
                                  "entry:\n"
                                  "  %a: ptr.private = alloca [9000000 x i8] align 4\n"
                                  "  %i: i64 = global_id 0\n"
                                  "  %q: ptr.private = ptradd %a, %i\n"
                                  "  store i8 1, %q align 1 !20\n"
                                  "  %v: i32 = load %a align 4 !10\n"
                                  "  store %v, %p align 4\n"
                                  "  ret\n"
                                  "}\n");
    spvf_blob blob;
    cr_expect_eq(spvf_module_emit(m, "x86_64", &blob), SPVF_ERROR_REFUSED);
    cr_expect_str_eq(messages,
                     "k.ir: warning: kernel 'k' is left out: private memory has more than "
                     "6291456 bytes: one variable has 9000000 (k.cl:7)\n"
                     "error: no kernel is left\n");
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

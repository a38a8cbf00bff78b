/* object_test.c — object files as other tools see them: readelf and objdump read them without a
 * word of complaint, gcc links them with C into every kind of program, which runs.
 */
#include "codegen/object/object.h"
#include "tests/codegen/sample.h"
#include "tests/temporary.h"

#include <criterion/criterion.h>
#include <stdlib.h>

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    cg_object object;
    char tree[TEMPORARY_NAME], folder[TEMPORARY_NAME];
} bench;

static void begin(bench *b) {
    *b = (bench){0};
    ir_arena_init(&b->arena, &b->cx);
    sample_object(&b->arena, &b->object);
    cr_assert(getcwd(b->tree, sizeof b->tree) && enter_temporary_folder(b->folder));
}

static void end(bench *b) {
    cr_expect_eq(system(ir_sprintf(&b->arena, "rm -r '%s'", b->folder)), 0);
    ir_arena_free(&b->arena);
}

static void save(const char *name, const void *bytes, size_t n) {
    FILE *f = fopen(name, "wb");
    cr_assert(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
}

static void save_object(bench *b, bool lines) {
    uint8_t *bytes, *again;
    size_t size, size_again;
    cg_file_options o = {.elf = cg_host_machine()->elf, .lines = lines};
    cg_write_object(&b->object, &o, &b->arena, &bytes, &size);
    cg_write_object(&b->object, &o, &b->arena, &again, &size_again);
    cr_expect(size == size_again && memcmp(bytes, again, size) == 0, "the same bytes each time");
    save("k.o", bytes, size);
}

static const char *output(bench *b, const char *command) {
    char line[1000];
    ir_text t = {.arena = &b->arena};
    FILE *p = popen(ir_sprintf(&b->arena, "(%s) 2>&1", command), "r");
    while (p && fgets(line, sizeof line, p)) ir_put(&t, line);
    cr_expect_eq(pclose(p), 0, "%s: %s", command, t.data);
    return t.n ? t.data : "";
}

static void expect_in(const char *text, const char *part) {
    cr_expect(strstr(text, part), "no \"%s\" in:\n%s", part, text);
}

/* ---------------------------------------------------------------------------------------- tools */

Test(object, readelf_and_objdump_read_it) {
    bench b;
    begin(&b);
    save_object(&b, true);
    const char *all = output(&b, "readelf -aW -wfil k.o");
    cr_expect(!strstr(all, "arning") && !strstr(all, "rror"), "%s", all);
    expect_in(all, "REL (Relocatable file)");
    expect_in(all, "GLOBAL DEFAULT    1 fill\n");
    expect_in(all, ".note.GNU-stack");
    expect_in(all, "DW_CFA_offset_extended: r12 (r12) at cfa-32");
    expect_in(all, "DW_CFA_offset_extended: r3 (rbx) at cfa-24");
    expect_in(output(&b, "objdump -dr k.o"), "<fill.block>:");
    expect_in(output(&b, "addr2line -fe k.o 4 && addr2line -fe k.o 0"),
              "fill\nsample.cl:18\nfill\nsample.cl:17\n");
    expect_in(output(&b, "readelf --debug-dump=rawline k.o"), "Set prologue_end to true");
    end(&b);
}

Test(object, one_without_anything) {
    bench b;
    begin(&b);
    b.object = (cg_object){0};
    save_object(&b, false);
    const char *all = output(&b, "readelf -aW k.o && ld -r -o l.o k.o");
    cr_expect(!strstr(all, "arning") && !strstr(all, "rror"), "%s", all);
    end(&b);
}

/* ------------------------------------------------------------------------------------- programs */

static void save_text(const char *name, const char *text) { save(name, text, strlen(text)); }

static const char plain[] =
    "#include \"runtime/spvfuse.h\"\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "extern spvf_native_kernel spvf_kernels[];\n"
    "extern int calls;\n"
    "extern const char *where;\n"
    "int main(void) {\n"
    "    _Alignas(128) static char local[1024];\n"
    "    int out[8] = {0}, value = 7;\n"
    "    const spvf_native_kernel *k = spvf_kernels;\n"
    "    void *args[] = {out, &value, (void *)256};\n"
    "    spvf_group_info g = {.group_id = {2}, .group_end = {6, 1, 1}, .local = local};\n"
    "    k->run_block(&g, args);\n"
    "    k->run(&(spvf_group_info){.group_id = {7}, .local = local}, args);\n"
    "    for (int i = 0; i < 8; i++) printf(\"%d \", out[i]);\n"
    "    printf(\"%s %s(\", where, k->name);\n"
    "    for (unsigned i = 0; i < k->arg_count; i++)\n"
    "        printf(\"%s %u %u %u, \", k->args[i].name, k->args[i].kind, k->args[i].size,\n"
    "               k->args[i].align);\n"
    "    printf(\") %d %d\\n\", (int)k->need.local, (int)k->need.scratch_item);\n"
    "    return calls != 5 || k[1].name || memcmp(local + 256, &(int){5}, 4) != 0;\n"
    "}\n";

static void expect_program(bench *b, const char *compile, const char *says) {
    const char *said = output(
        b, ir_sprintf(&b->arena, "CPATH='%s'; export CPATH; %s && ./main", b->tree, compile));
    cr_expect_str_eq(said, says, "%s: %s", compile, said);
}

Test(object, c_programs_link_with_it) {
    static const char *const ways[] = {
        "gcc -pie -fPIE main.c k.o -o main", "gcc -no-pie -fno-pie main.c k.o -o main",
        "gcc -static main.c k.o -o main",
        "gcc -shared k.o -o libk.so -Wl,-z,text && gcc -fPIC main.c ./libk.so -o main"};
    bench b;
    begin(&b);
    cg_add_kernel_table(&b.object, "spvf_kernels", &b.arena);
    save_object(&b, false);
    save_text("main.c", plain);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        expect_program(&b, ways[i],
                       "0 0 1012 1012 1012 1012 0 1012 ample fill(out 0 8 8, value 2 4 4, "
                       "part 1 0 4, ) 256 24\n");
    end(&b);
}

/* As the runtime of Native CPU sees kernels; fill's own locals are above `part`'s offset. */
static const char nativecpu[] =
    "#include <stddef.h>\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "typedef struct {\n"
    "    size_t global_id[3], global_range[3], workgroup_size[3], workgroup_id[3], local_id[3],\n"
    "        num_groups[3], global_offset[3];\n"
    "    unsigned subgroup[4];\n"
    "} state;\n"
    "typedef void kernel(void *const *args, state *s);\n"
    "extern const struct {\n"
    "    const char *name;\n"
    "    kernel *run;\n"
    "} __sycl_native_cpu_decls[];\n"
    "extern kernel fill, alias __asm__(\"fill.SYCLNCPU\");\n"
    "extern int calls;\n"
    "int main(void) {\n"
    "    int out[8] = {0}, value = 7, part[4] = {0};\n"
    "    void *args[] = {out, &value, part};\n"
    "    state s = {.workgroup_size = {1000, 2, 1}};\n"
    "    _Static_assert(sizeof s == 184, \"\");\n"
    "    for (s.workgroup_id[0] = 3; s.workgroup_id[0] < 5; s.workgroup_id[0]++)\n"
    "        __sycl_native_cpu_decls[0].run(args, &s);\n"
    "    s.workgroup_size[0] = 0;\n"
    "    fill(args, &s);\n"
    "    for (int i = 0; i < 8; i++) printf(\"%d \", out[i]);\n"
    "    printf(\"%d %d %s %s\\n\", part[0], calls, __sycl_native_cpu_decls[0].name,\n"
    "           __sycl_native_cpu_decls[1].name);\n"
    "    return fill != alias || fill != __sycl_native_cpu_decls[0].run ||\n"
    "           __sycl_native_cpu_decls[1].run;\n"
    "}\n";

Test(object, native_cpu_calls_it) {
    bench b;
    begin(&b);
    cg_host_machine()->add_nativecpu(&b.object, &b.arena);
    save_object(&b, false);
    save_text("main.c", nativecpu);
    expect_program(&b, "gcc -O1 main.c k.o -o main",
                   "0 0 0 1012 1012 1012 0 0 5 3 fill __nativecpu_end\n");
    end(&b);
}

static void add_aligned(void *user) {
    bench *b = user;
    obj_add_data(&b->object, &b->arena, CG_DATA, (obj_data){"d", "", 0, 16});
}

/* Alignment alone leads to the place 2^31. */
Test(object, a_section_has_less_than_2_gib) {
    bench b;
    begin(&b);
    b.object.size[CG_DATA] = INT32_MAX;
    b.object.room[CG_DATA] = UINT32_MAX;
    cr_expect(!ir_try(&b.cx, add_aligned, &b));
    cr_expect_eq(b.cx.status, IR_ERR_LIMIT);
    end(&b);
}

/* The group sees all that the state says, aligned memory of its own, and a stack that lasts. */
static const char group[] =
    "#include \"ir/launch.h\"\n"
    "#include <stddef.h>\n"
    "#include <stdio.h>\n"
    "#include <string.h>\n"
    "void look(void *const *args, size_t *state);\n"
    "extern void (*hook)(const ir_group_info *g, void *const *args);\n"
    "static void seen(const ir_group_info *g, void *const *args) {\n"
    "    for (int i = 0; i < 3; i++)\n"
    "        printf(\"%d %d %d %d %d %d \", (int)g->group_id[i], (int)g->group_end[i],\n"
    "               (int)g->num_groups[i], (int)g->local_size[i], (int)g->global_size[i],\n"
    "               (int)g->global_offset[i]);\n"
    "    printf(\"%d %d %d %d\\n\", (int)g->work_dim, g->print || g->user,\n"
    "           (int)((size_t)g->local % 128), (int)((size_t)g->scratch % 128));\n"
    "    memset(g->local, 1, 1000);\n"
    "    memset(g->scratch, 1, 300 + 5000 * 64);\n"
    "    printf(\"%s\\n\", *(char **)args[0]);\n"
    "}\n"
    "int main(void) {\n"
    "    const char *text = \"unharmed\";\n"
    "    void *args[] = {&text};\n"
    "    hook = seen;\n"
    "    size_t s[23] = {0, 0, 0, 20, 21, 22, 3, 4, 5, 7, 8, 9, 0, 0, 0, 11, 12, 13, 31, 32, 33};\n"
    "    look(args, s);\n"
    "    return strcmp(text, \"unharmed\");\n"
    "}\n";

Test(object, native_cpu_describes_the_group) {
    bench b;
    begin(&b);
    sample_add_hook(&b.arena, &b.object, "look", "hook");
    cg_host_machine()->add_nativecpu(&b.object, &b.arena);
    save_object(&b, false);
    save_text("main.c", group);
    expect_program(&b, "gcc -O1 main.c k.o -o main",
                   "7 8 11 3 20 31 8 9 12 4 21 32 9 10 13 5 22 33 3 0 0 0\nunharmed\n");
    end(&b);
}

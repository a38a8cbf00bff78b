/* jit_test.c — code in memory: it runs, its pages are what they should be, gdb and perf know it. */
#include "runtime/native/native.h"
#include "tests/codegen/sample.h"
#include "tests/temporary.h"

#include <criterion/criterion.h>

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    cg_object object;
    rt_code code;
} bench;

static void begin(bench *b) {
    *b = (bench){0};
    ir_arena_init(&b->arena, &b->cx);
    sample_object(&b->arena, &b->object);
}

static void end(bench *b) {
    rt_code_unload(&b->code);
    ir_arena_free(&b->arena);
}

static void *find(const bench *b, const char *name) {
    for (uint32_t i = 0; i < b->object.symbols.n; i++)
        if (strcmp(b->object.symbols.data[i].name, name) == 0)
            return rt_code_symbol(&b->code, &b->object, i);
    return NULL;
}

typedef void entry(const ir_group_info *g, void *const *args);

static entry *find_entry(const bench *b, const char *name) {
    void *at = find(b, name);
    entry *e;
    memcpy(&e, &at, sizeof e);
    return e;
}

Test(jit, code_runs) {
    bench b;
    begin(&b);
    cr_assert_eq(rt_code_load(&b.object, NULL, &b.code), IR_OK);
    _Alignas(IR_LOCAL_ALIGN) static char local[512];
    int32_t out[4] = {0}, value = 1;
    void *args[] = {out, &value, (void *)64};
    ir_group_info g = {.group_id = {1}, .group_end = {4, 1, 1}, .local = local};
    find_entry(&b, "fill.block")(&g, args);
    const int32_t want[4] = {0, SAMPLE_BIAS + 6, SAMPLE_BIAS + 6, SAMPLE_BIAS + 6};
    cr_expect_arr_eq(out, want, sizeof want);
    cr_expect_eq(*(int32_t *)find(&b, "calls"), 3);
    cr_expect_str_eq(*(const char **)find(&b, "where"), "ample");
    end(&b);
}

/* ----------------------------------------------------------------------------------- protection */

/* What /proc says of the page of an address: "r-xp". */
static void protection_of(const void *at, char out[5]) {
    unsigned long long low, high;
    char line[512], flags[5];
    FILE *f = fopen("/proc/self/maps", "r");
    cr_assert_not_null(f);
    out[0] = 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%llx-%llx %4s", &low, &high, flags) == 3 &&
            (uintptr_t)at - low < high - low)
            memcpy(out, flags, 5);
    fclose(f);
}

static void expect_protection(const void *at, const char *want) {
    char flags[5];
    protection_of(at, flags);
    cr_expect_str_eq(flags, want);
}

Test(jit, no_page_can_be_written_and_executed) {
    bench b;
    begin(&b);
    cr_assert_eq(rt_code_load(&b.object, NULL, &b.code), IR_OK);
    void *text = find(&b, "fill");
    expect_protection(text, "r-xp");
    expect_protection(find(&b, "bias"), "r--p");
    expect_protection(find(&b, "calls"), "rw-p");
    end(&b);
    expect_protection(text, "");
}

Test(jit, an_object_without_anything) {
    cg_object none = {0};
    rt_code code;
    cr_expect_eq(rt_code_load(&none, NULL, &code), IR_OK);
    rt_code_unload(&code);
    rt_code_unload(&code);
}

Test(jit, what_does_not_reach_or_fit_is_a_status) {
    bench b;
    begin(&b);
    b.object.relocs.data[1].addend = INT64_C(1) << 33;
    cr_expect_eq(rt_code_load(&b.object, NULL, &b.code), IR_ERR_LIMIT);
    b.object.relocs.data[1].addend = 0;
    b.object.align[CG_RODATA] = 1 << 20;
    cr_expect_eq(rt_code_load(&b.object, NULL, &b.code), IR_ERR_LIMIT);
    end(&b);
}

/* ---------------------------------------------------------------------------------------- tools */

/* Output of a command; %s in it is the folder of this program. */
static const char *output(ir_arena *a, const char *command) {
    char path[TEMPORARY_NAME] = {0}, line[1000];
    ir_text t = {.arena = a};
    cr_assert(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    *strrchr(path, '/') = 0;
    FILE *p = popen(ir_sprintf(a, command, path), "r");
    while (p && fgets(line, sizeof line, p)) ir_put(&t, line);
    if (p) pclose(p);
    return t.n ? t.data : "";
}

Test(jit, gdb_shows_where_a_kernel_stopped) {
    bench b;
    begin(&b);
    if (!*output(&b.arena, "command -v gdb")) cr_skip("there is no gdb");
    const char *said = output(&b.arena, "gdb -nx -batch -ex run -ex bt -ex 'info symbol $pc' "
                                        "-ex finish -ex 'list sample.cl:1' %s/jit_stop 2>&1");
    const char *const want[] = {"SIGSEGV", "fill () at sample.cl:18",
                                "in fill.block () at sample.cl:40", "in main"};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        cr_expect(strstr(said, want[i]), "no '%s' in: %s", want[i], said);
    end(&b);
}

Test(jit, perf_reads_a_map) {
    bench b;
    begin(&b);
    setenv("JITDUMPDIR", "/nowhere", 1);
    rt_tools tools = {.perf = true};
    cr_assert_eq(rt_code_load(&b.object, NULL, &b.code), IR_OK);
    rt_code_announce(&b.code, &b.object, &tools, &b.cx);
    char path[64], line[3][200];
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    FILE *f = fopen(path, "r");
    cr_assert_not_null(f);
    cr_expect(fgets(line[0], 200, f) && fgets(line[1], 200, f) && !fgets(line[2], 200, f));
    fclose(f);
    remove(path);
    uint32_t size = b.object.symbols.data[b.object.kernels.data[0].entry].size;
    cr_expect_str_eq(line[0], ir_sprintf(&b.arena, "%llx %x fill\n",
                                         (unsigned long long)(uintptr_t)find(&b, "fill"), size));
    end(&b);
}

/* perf's dump, read without perf: the code and the name of each function, and its lines before. */
Test(jit, perf_reads_a_dump) {
    enum { LOAD = 0, LINES = 2, HEAD = 40 };
    static unsigned char file[1 << 16];
    bench b;
    begin(&b);
    rt_tools tools = {.perf = true};
    cr_assert_eq(rt_code_load(&b.object, NULL, &b.code), IR_OK);
    setenv("JITDUMPDIR", "/tmp", 1);
    rt_code_announce(&b.code, &b.object, &tools, &b.cx);
    char path[64];
    snprintf(path, sizeof path, "/tmp/jit-%ld.dump", (long)getpid());
    FILE *f = fopen(path, "r");
    cr_assert_not_null(f);
    size_t size = fread(file, 1, sizeof file, f), loads = 0, lines = 0;
    fclose(f);
    remove(path);
    remove(ir_sprintf(&b.arena, "/tmp/perf-%ld.map", (long)getpid()));
    cr_assert(size > HEAD && memcmp(file, "DTiJ", 4) == 0);
    uint32_t head[2];
    for (size_t at = HEAD; at < size; at += head[1]) {
        memcpy(head, file + at, sizeof head);
        cr_assert(head[1] >= 16 && head[1] <= size - at);
        lines += head[0] == LINES;
        if (head[0] != LOAD) continue;
        uint64_t facts[4]; /* address, place, bytes, number */
        memcpy(facts, file + at + 24, sizeof facts);
        const char *name = (const char *)file + at + 56;
        const unsigned char *code = file + at + 56 + strlen(name) + 1;
        cr_expect_eq(facts[0], (uintptr_t)find(&b, name));
        cr_expect_eq(code + facts[2], file + at + head[1]);
        cr_expect_eq(memcmp(code, find(&b, name), facts[2]), 0);
        loads++;
    }
    cr_expect_eq(loads, 2);
    cr_expect_eq(lines, 2);
    end(&b);
}

/* Many come and go, in any order, also while gdb is told. */
Test(jit, loading_and_unloading) {
    enum { N = 50 };
    bench b;
    rt_code code[N];
    rt_tools tools = {.gdb = true};
    begin(&b);
    for (int i = 0; i < N; i++) {
        cr_assert_eq(rt_code_load(&b.object, NULL, &code[i]), IR_OK);
        rt_code_announce(&code[i], &b.object, &tools, &b.cx);
    }
    for (int i = 0; i < N; i += 2) rt_code_unload(&code[i]);
    for (int i = 1; i < N; i += 2) rt_code_unload(&code[i]);
    end(&b);
}

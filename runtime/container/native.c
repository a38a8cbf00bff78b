/* native.c — an object that spvf_module_emit has written, in memory, without a linker.
 *
 * Its sections of code, constants and data become those of a cg_object, which is loaded like one
 * that has just been compiled (native/jit.c).  All symbols of such an object are its own, so each
 * relocation is one against a place in these sections.  Unwind tables and lines are left out.
 *
 * The file is checked so that nothing beyond it is read or written.  Code runs as it is: the caller
 * trusts it.
 */
#include "runtime/container/elf.h"
#include "runtime/devices/cpu/cpu.h"

struct spvf_native {
    ir_arena arena; /* of this struct */
    rt_loaded_object object;
};

typedef struct {
    ir_ctx *cx;
    ir_arena *scratch;
    const char *name;
    elf_file file;
    const cg_elf *machine;
    elf_section strings, symbols; /* names of symbols, and these */
    int *section_of;              /* cg_section by number of section; -1: none of them */
    cg_object object;
    uint32_t table, entries; /* where the kernels are in the data, and how many with the last */
} loading;

IR_NORETURN static void fail(const loading *l, ir_status status, const char *what) {
    ir_report(l->cx, (ir_message){.severity = IR_ERROR, .file = l->name}, "%s", what);
    ir_throw(l->cx, status);
}

static elf_section section_at(const loading *l, uint32_t n) {
    elf_section s;
    if (!elf_section_of(&l->file, n, &s)) fail(l, IR_ERR_INPUT, "the table of sections is damaged");
    return s;
}

/* ------------------------------------------------------------------------------------ sections */

static int find_kind(const char *name) {
    static const struct {
        const char *name;
        cg_section section;
    } known[] = {{".text", CG_TEXT},
                 {".rodata", CG_RODATA},
                 {".data.rel.ro", CG_RODATA},
                 {".data", CG_DATA}};
    for (unsigned n = 0; n < sizeof known / sizeof *known; n++)
        if (strcmp(name, known[n].name) == 0) return (int)known[n].section;
    return -1;
}

static void take_bytes(loading *l, uint32_t number, const elf_section *s) {
    const elf_section names = section_at(l, l->file.head.names);
    const char *name = elf_text(&l->file, &names, s->name);
    const uint8_t *bytes = elf_part(&l->file, s->offset, s->size);
    int kind = name ? find_kind(name) : -1;
    if (!(s->flags & ELF_ALLOCATED) || kind < 0) return;
    if (!bytes || s->size > INT32_MAX || s->align > UINT32_MAX || l->object.size[kind])
        fail(l, IR_ERR_INPUT, "a section is damaged");
    l->section_of[number] = kind;
    l->object.bytes[kind] = (uint8_t *)(uintptr_t)bytes; /* which are never changed */
    l->object.size[kind] = (uint32_t)s->size;
    l->object.align[kind] = (uint32_t)s->align;
}

static void take_sections(loading *l) {
    uint32_t count = l->file.head.sections;
    l->section_of = ir_new_array(l->scratch, int, count);
    for (uint32_t n = 0; n < count; n++) {
        const elf_section s = section_at(l, n);
        l->section_of[n] = -1;
        if (s.type == ELF_PROGRAM_BITS) take_bytes(l, n, &s);
        if (s.type != ELF_SYMBOL_TABLE) continue;
        l->symbols = s;
        l->strings = section_at(l, s.link);
    }
    for (int s = 0; s < CG_SECTIONS; s++)
        *ir_push(l->scratch, &l->object.symbols) = (cg_symbol){"", (cg_section)s, 0, 0, 0, 0};
}

/* --------------------------------------------------------------------------------- relocations */

/* The section that a number names, which has at least so many bytes. */
static cg_section place(const loading *l, uint32_t section, uint64_t bytes) {
    int kind = section < l->file.head.sections ? l->section_of[section] : -1;
    if (kind < 0 || bytes > l->object.size[kind])
        fail(l, IR_ERR_INPUT, "a symbol or relocation is damaged");
    return (cg_section)kind;
}

static void take_relocation(loading *l, cg_section in, const elf_relocation *r) {
    elf_symbol to;
    bool is_pc32 = r->type == l->machine->pc32;
    uint32_t bytes = is_pc32 ? 4 : 8;
    if (!elf_record(&l->file, &l->symbols, r->symbol, &to, sizeof to) ||
        (!is_pc32 && r->type != l->machine->abs64) || l->object.size[in] < bytes ||
        r->at > l->object.size[in] - bytes)
        fail(l, IR_ERR_INPUT, "a relocation is damaged");
    *ir_push(l->scratch, &l->object.relocs) =
        (cg_reloc){.section = in,
                   .kind = is_pc32 ? CG_PC32 : CG_ABS64,
                   .at = (uint32_t)r->at,
                   .symbol = place(l, to.section, to.value),
                   .addend = (int64_t)((uint64_t)r->addend + to.value)};
}

static void take_relocations(loading *l) {
    elf_relocation r;
    for (uint32_t n = 0; n < l->file.head.sections; n++) {
        const elf_section s = section_at(l, n);
        bool wanted = s.type == ELF_RELOCATIONS && s.info < l->file.head.sections &&
                      l->section_of[s.info] >= 0;
        for (uint64_t k = 0; wanted && elf_record(&l->file, &s, k, &r, sizeof r); k++)
            take_relocation(l, (cg_section)l->section_of[s.info], &r);
    }
}

/* ----------------------------------------------------------------------------------- kernels */

static void find_table(loading *l) {
    elf_symbol s;
    for (uint64_t n = 0; elf_record(&l->file, &l->symbols, n, &s, sizeof s); n++) {
        const char *name = elf_text(&l->file, &l->strings, s.name);
        if (!name || strcmp(name, "spvf_kernels") != 0) continue;
        bool fits = s.size <= INT32_MAX && s.value <= INT32_MAX &&
                    s.size >= sizeof(spvf_native_kernel) &&
                    s.value % _Alignof(spvf_native_kernel) == 0;
        if (!fits || place(l, s.section, s.value + s.size) != CG_DATA)
            fail(l, IR_ERR_INPUT, "the table of kernels is damaged");
        l->table = (uint32_t)s.value;
        l->entries = (uint32_t)(s.size / sizeof(spvf_native_kernel));
        return;
    }
    fail(l, IR_ERR_INPUT, "there is no table of kernels 'spvf_kernels'");
}

/* So many arguments lie in the object. */
static bool are_args(const rt_code *c, const spvf_native_arg *args, uint64_t n) {
    uintptr_t offset = (uintptr_t)args - (uintptr_t)c->base;
    bool aligned = offset % _Alignof(spvf_native_arg) == 0;
    return !n || (aligned && offset <= c->bytes && n <= (c->bytes - offset) / sizeof *args);
}

static bool is_name(const rt_code *c, const char *name) {
    uintptr_t offset = (uintptr_t)name - (uintptr_t)c->base;
    return offset < c->bytes && memchr(name, 0, c->bytes - offset);
}

/* Every entry but the last has a name, code and arguments in the object; code is trusted. */
static bool is_table(const rt_loaded_object *o, uint32_t entries) {
    for (uint32_t n = 0; n < entries; n++) {
        const spvf_native_kernel *k = &o->kernels[n];
        if (n == entries - 1) return !k->name;
        if (!is_name(&o->code, k->name) || !are_args(&o->code, k->args, k->arg_count)) return false;
    }
    return false;
}

void rt_load_object(ir_ctx *cx, const rt_object_image *image, ir_arena *scratch,
                    rt_loaded_object *out) {
    const cg_machine *host = cg_host_machine();
    loading l = {.cx = cx, .scratch = scratch, .name = image->name};
    if (is_elf(image->bytes, image->size)) l.file = elf_open(image->bytes, image->size);
    if (!host || l.file.head.machine != host->elf->machine)
        fail(&l, IR_ERR_REFUSED, "it is no object for this machine");
    l.machine = host->elf;
    take_sections(&l);
    take_relocations(&l);
    find_table(&l);
    ir_status status = rt_code_load(&l.object, NULL, &out->code);
    if (status != IR_OK) ir_throw(cx, status);
    out->kernels = (const void *)(out->code.at[CG_DATA] + l.table);
    if (is_table(out, l.entries)) return;
    rt_code_unload(&out->code);
    fail(&l, IR_ERR_INPUT, "the table of kernels is damaged");
}

/* --------------------------------------------------------------------------------------- calls */

typedef struct {
    spvf_context *context;
    rt_object_image image;
    ir_arena scratch;
    spvf_native *native;
} load_job;

static void load(void *arg) {
    load_job *j = arg;
    ir_arena arena;
    ir_arena_init(&arena, &j->context->cx);
    j->native = ir_new(&arena, spvf_native);
    *j->native = (spvf_native){.arena = arena};
    rt_load_object(&j->context->cx, &j->image, &j->scratch, &j->native->object);
}

spvf_status spvf_native_load(spvf_context *context, const char *name, const void *bytes,
                             size_t size, spvf_native **out) {
    if (out) *out = NULL;
    if (!context || !bytes || !out)
        return rt_refuse_call(context, __func__, "%s is NULL", out ? "bytes" : "out");
    load_job j = {.context = context,
                  .image = {.name = name ? name : "<object>", .bytes = bytes, .size = size}};
    ir_arena_init(&j.scratch, &context->cx);
    spvf_status status = rt_guard(context, load, &j);
    ir_arena_free(&j.scratch);
    if (status == SPVF_OK)
        *out = j.native;
    else
        spvf_native_destroy(j.native);
    return status;
}

const spvf_native_kernel *spvf_native_kernels(const spvf_native *n) {
    return n ? n->object.kernels : NULL;
}

void spvf_native_destroy(spvf_native *n) {
    if (!n) return;
    ir_arena arena = n->arena;
    rt_code_unload(&n->object.code);
    ir_arena_free(&arena);
}

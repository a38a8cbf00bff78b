/* texts.c — what a program becomes for the device: its kernels as a text in PTX, and what launches
 * have to know of them.
 *
 * If the cache has the code, nearly half of what the library does before the first launch is to
 * write the text.  The cache keeps what is known of a text, by what it is made of (key_of): its
 * hash, by which the code is found (cubin.c), and what launches need.  So it is only written if the
 * code is not there.
 *
 *   entry  := hash of the text, n, { kernel }, n, { print }
 *   kernel := name, name in the text, facts · 17
 *   print  := format, n, { kind, lanes, bits, limit }
 *
 * Numbers have 64 bits; a string is its length and its bytes.  Entries come with a checksum; still,
 * nothing here trusts what it reads.
 */
#include "runtime/devices/cuda/cuda.h"

/* ----------------------------------------------------------------------------------------- keys */

static_assert(sizeof(cg_ptx_options) == 20 && sizeof(rt_ptx_options) == 64,
              "a new option belongs in the key");

static void add_options(rt_hash *h, const rt_ptx_options *o) {
    const cg_ptx_options *c = &o->code;
    const uint64_t numbers[] = {c->sm,       c->exact,   c->offset,   c->wide,
                                c->disjoint, c->aligned, c->together, c->dependent,
                                c->coarsen,  c->threads, o->parts,    o->print != NULL};
    const char *only = o->only ? o->only : "";
    rt_hash_add(h, numbers, sizeof numbers);
    rt_hash_bytes(h, only, strlen(only));
    rt_hash_number(h, o->constants.n);
    for (uint32_t n = 0; n < o->constants.n; n++) {
        rt_hash_number(h, o->constants.list[n].param);
        rt_hash_bytes(h, o->constants.list[n].bytes, (size_t)o->constants.list[n].size);
    }
}

/* Of the kernels, all that they need, the options, and the compiler. */
static rt_key key_of(const ir_module *m, const rt_ptx_options *o, ir_arena *scratch) {
    static const char kind[] = "text";
    ir_vec(const ir_func *) kernels = {0};
    ir_global_list globals = {0};
    ir_text content = {.arena = scratch};
    rt_hash h;
    rt_key key;
    rt_hash_begin(&h);
    rt_hash_add(&h, kind, sizeof kind);
    rt_hash_add(&h, rt_build_id, RT_BUILD_ID_BYTES);
    add_options(&h, o);
    foreach_func (f, m) {
        if (!(f->flags & IR_FUNC_KERNEL) || ir_is_declaration(f)) continue;
        *ir_push(scratch, &kernels) = f;
        rt_hash_bytes(&h, f->name, strlen(f->name));
    }
    if (kernels.n) ir_contents(kernels.data, kernels.n, &content, &globals);
    rt_hash_bytes(&h, content.data, content.n);
    rt_hash_end(&h, key.bytes);
    return key;
}

/* -------------------------------------------------------------------------------------- writing */

static void put(ir_text *out, uint64_t n) { ir_putn(out, (const char *)&n, sizeof n); }

static void put_string(ir_text *out, const char *s) {
    const size_t n = strlen(s);
    put(out, n);
    if (n) ir_putn(out, s, n);
}

enum { FACTS = 17 };
static_assert(sizeof(rt_ptx_kernel) == 616, "a new fact belongs in the entry");

enum { EXTENT = 5 }; /* numbers */

static uint64_t extents_of(const ir_phases *p) { return p->n < IR_EXTENTS ? p->n : IR_EXTENTS; }

static void put_extent(ir_text *out, const ir_extent *e) {
    for (unsigned d = 0; d < 3; d++) put(out, e->end[d]);
    put(out, e->of_groups);
    put(out, e->asks);
}

static void put_kernel(ir_text *out, const rt_ptx_kernel *k) {
    const uint64_t facts[FACTS] = {k->waits,           k->resident,        k->phases.n,
                                   k->phases.item,     k->phases.group,    k->parts,
                                   k->prints,          k->hidden.offset,   k->hidden.work_dim,
                                   k->observes_groups, k->local[0],        k->local[1],
                                   k->local[2],        k->coarsened[0],    k->coarsened[1],
                                   k->coarsened[2],    k->hidden.variables};
    put_string(out, k->name);
    put_string(out, k->entry);
    for (unsigned n = 0; n < FACTS; n++) put(out, facts[n]);
    for (unsigned n = 0; n < extents_of(&k->phases); n++) put_extent(out, &k->phases.extent[n]);
}

static void put_print(ir_text *out, const pass_print *p) {
    put_string(out, p->format);
    put(out, p->n);
    for (uint32_t n = 0; n < p->n; n++) {
        put(out, p->operand[n].kind);
        put(out, p->operand[n].lanes);
        put(out, p->operand[n].bits);
        put(out, p->operand[n].limit);
    }
}

void cuda_put_text(const cuda_text *t, ir_text *out) {
    ir_putn(out, (const char *)t->hash, sizeof t->hash);
    put(out, t->ptx.n);
    for (uint32_t n = 0; n < t->ptx.n; n++) put_kernel(out, &t->ptx.kernel[n]);
    put(out, t->ptx.prints.n);
    foreach_in (const pass_print, p, t->ptx.prints) put_print(out, p);
}

/* -------------------------------------------------------------------------------------- reading */

/* What is left of an entry; wrong: it ended too early. */
typedef struct {
    const uint8_t *at, *end;
    ir_arena *arena;
    bool wrong;
} reader;

static const uint8_t *take(reader *r, uint64_t n) {
    const uint8_t *at = r->at;
    r->wrong |= n > (uint64_t)(r->end - at);
    if (r->wrong) return NULL;
    r->at += n;
    return at;
}

static uint64_t take_number(reader *r) {
    uint64_t n = 0;
    const uint8_t *at = take(r, sizeof n);
    return at ? (memcpy(&n, at, sizeof n), n) : 0;
}

static const char *take_string(reader *r) {
    const uint64_t n = take_number(r);
    const uint8_t *at = take(r, n);
    return at ? ir_strndup(r->arena, (const char *)at, (size_t)n) : "";
}

/* Of things that have at least so many bytes each. */
static uint32_t take_count(reader *r, size_t each) {
    const uint64_t n = take_number(r);
    r->wrong |= n > (uint64_t)(r->end - r->at) / each;
    return r->wrong ? 0 : (uint32_t)n;
}

static ir_extent take_extent(reader *r) {
    uint64_t f[EXTENT];
    for (unsigned n = 0; n < EXTENT; n++) f[n] = take_number(r);
    return (ir_extent){{(uint32_t)f[0], (uint32_t)f[1], (uint32_t)f[2]},
                       f[3] != 0,
                       f[4] <= IR_ASKS_SIZES ? (uint16_t)f[4] : IR_ASKS_SIZES};
}

static rt_ptx_kernel take_kernel(reader *r) {
    rt_ptx_kernel k = {.name = take_string(r), .entry = take_string(r)};
    uint64_t f[FACTS];
    for (unsigned n = 0; n < FACTS; n++) f[n] = take_number(r);
    k.waits = f[0] != 0;
    k.resident = f[1] != 0;
    k.phases = (ir_phases){.n = f[2], .item = f[3], .group = f[4]};
    k.parts = f[5] <= PASS_BOXES ? (pass_parts)f[5] : PASS_WHOLE;
    k.prints = f[6] != 0;
    k.hidden = (cg_ptx_hidden){.offset = f[7] != 0, .work_dim = f[8] != 0, .variables = f[16]};
    k.observes_groups = f[9] != 0;
    for (unsigned n = 0; n < 3; n++) {
        k.local[n] = (uint32_t)f[10 + n];
        k.coarsened[n] = (uint32_t)f[13 + n];
    }
    for (unsigned n = 0; n < extents_of(&k.phases); n++) k.phases.extent[n] = take_extent(r);
    return k;
}

static pass_print take_print(reader *r) {
    pass_print p = {.format = take_string(r), .n = take_count(r, 4 * sizeof(uint64_t))};
    pass_printed *operands = ir_new_array(r->arena, pass_printed, p.n + 1);
    for (uint32_t n = 0; n < p.n; n++) {
        const uint64_t kind = take_number(r), lanes = take_number(r), bits = take_number(r);
        r->wrong |= kind > PASS_STRING || lanes > IR_MAX_LANES || bits > 64;
        operands[n] = (pass_printed){(pass_printed_kind)kind, (unsigned)lanes, (unsigned)bits,
                                     take_number(r)};
    }
    p.operand = operands;
    return p;
}

bool cuda_take_text(const uint8_t *bytes, size_t size, ir_arena *arena, cuda_text *out) {
    reader r = {bytes, bytes + size, arena, false};
    *out = (cuda_text){.ptx = {0}};
    const uint8_t *hash = take(&r, sizeof out->hash);
    if (!hash) return false;
    memcpy(out->hash, hash, sizeof out->hash);
    out->ptx.n = take_count(&r, FACTS * sizeof(uint64_t));
    rt_ptx_kernel *kernels = ir_new_array(arena, rt_ptx_kernel, out->ptx.n + 1);
    for (uint32_t n = 0; n < out->ptx.n; n++) kernels[n] = take_kernel(&r);
    out->ptx.kernel = kernels;
    for (uint32_t n = take_count(&r, 2 * sizeof(uint64_t)); n; n--)
        *ir_push(arena, &out->ptx.prints) = take_print(&r);
    return !r.wrong && r.at == r.end;
}

/* --------------------------------------------------------------------------------------- a text */

static cuda_text write_text(cuda *d, const rt_program *p, const rt_ptx_options *o,
                            ir_arena *arena) {
    cuda_text t = {.ptx = rt_make_ptx(d->base.context, p->module, o, arena)};
    rt_hash h;
    if (!t.ptx.text) return t;
    rt_hash_begin(&h);
    rt_hash_add(&h, t.ptx.text, strlen(t.ptx.text));
    rt_hash_end(&h, t.hash);
    return t;
}

typedef struct {
    cuda *d;
    rt_program *p;
    const rt_ptx_options *options;
    rt_entry entry;
    ir_arena scratch;
    cuda_text text;
} finding;

/* If passes are inspected, they run, and the entry is not read. */
static void find_or_write(void *arg) {
    finding *f = arg;
    const ir_ctx *cx = &f->d->base.context->cx;
    rt_program *p = f->p;
    const rt_key key = key_of(p->module, f->options, &f->scratch);
    rt_entry_begin(&f->d->cache, &key, &f->entry);
    const rt_entry *e = &f->entry;
    const bool is_used = e->bytes && !cx->inspection && !cx->counts;
    if (is_used && cuda_take_text(e->bytes, e->size, &p->arena, &f->text)) return;
    if (is_used) rt_entry_replace(&f->entry);
    f->text = write_text(f->d, p, f->options, &p->arena);
    if (!f->text.ptx.text) return;
    ir_text out = {.arena = &f->scratch};
    cuda_put_text(&f->text, &out);
    rt_entry_write(&f->entry, out.data, out.n, &f->d->base.context->cx);
}

/* As there is a cubin of, if there is one: its processor may be an older one of the generation. */
static bool has_cubin(cuda *d, rt_program *p, const rt_ptx_options *o, cuda_text *out) {
    rt_ptx_options older = *o;
    older.code.sm = cuda_cubin_sm(d, p->module);
    if (!older.code.sm) return false;
    *out = write_text(d, p, &older, &p->arena);
    out->cubin = cuda_find_cubin(p->module, out->ptx.text);
    return out->cubin || older.code.sm == o->code.sm;
}

cuda_text cuda_find_text(cuda *d, rt_program *p, const rt_ptx_options *o) {
    ir_ctx *cx = &d->base.context->cx;
    finding f = {.d = d, .p = p, .options = o};
    if (has_cubin(d, p, o, &f.text)) return f.text;
    if (d->cache.folder < 0) return write_text(d, p, o, &p->arena);
    ir_arena_init(&f.scratch, cx);
    bool ok = ir_try(cx, find_or_write, &f);
    ir_status status = cx->status;
    rt_entry_end(&f.entry);
    ir_arena_free(&f.scratch);
    if (!ok) ir_throw(cx, status);
    return f.text;
}

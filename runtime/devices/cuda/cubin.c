/* cubin.c — the text of a program becomes code of the device, which the driver's compiler makes and
 * the cache keeps: for the hash of the text, the generation of the device and the version of the
 * driver.  The text itself is only needed by the compiler.
 *
 * The compiler takes a hundred times longer than ours, and loading what it has made a thousandth of
 * that.  Of processes that want the same code at once, one compiles and the others wait for its
 * entry (runtime/cache/store.c).  What was found and cannot be loaded is made again.
 *
 * A module may have come with cubins (container/images.c).  One that was assembled from the same
 * text, letter by letter, is loaded in place of what the driver would make of that.
 */
#include "runtime/devices/cuda/cuda.h"

#include <stdlib.h>

enum { LOG_SIZE = 8192 };

typedef struct {
    cuda *d;
    rt_program *p;
    const rt_ptx_options *options;
    cuda_text *text;
    rt_entry entry;
    char log[LOG_SIZE];
    cu_module module;
} loading;

static rt_key key_of(const cuda *d, const cuda_text *text) {
    static const char kind[] = "cubin";
    const uint32_t numbers[] = {(uint32_t)d->version, d->generation};
    rt_hash h;
    rt_key key;
    rt_hash_begin(&h);
    rt_hash_add(&h, kind, sizeof kind);
    rt_hash_add(&h, numbers, sizeof numbers);
    rt_hash_add(&h, text->hash, sizeof text->hash);
    rt_hash_end(&h, key.bytes);
    return key;
}

/* ---------------------------------------------------------------------------- what the log says */

/* Line n of the text, without the spaces at its ends; NULL: it has none. */
static const char *line_of(const char *text, unsigned long n, int *length) {
    while (n > 1 && (text = strchr(text, '\n'))) {
        text++;
        n--;
    }
    if (!n || !text) return NULL;
    text += strspn(text, " \t");
    *length = (int)strcspn(text, "\n");
    return text;
}

/* The log of the compiler names lines by their numbers: "…, line 12; error   : …". */
IR_NORETURN static void refuse(spvf_context *context, const char *log, const char *ptx) {
    const char *at = strstr(log, ", line ");
    int length = 0;
    const char *line = at ? line_of(ptx, strtoul(at + 7, NULL, 10), &length) : NULL;
    rt_throw(context, IR_ERR_DEVICE, "cuda: the driver says: %.600s%s%.*s", log,
             line ? "\nThe line is: " : "", length < 200 ? length : 200, line ? line : "");
}

/* ------------------------------------------------------------------------------------ compiling */

static cu_result link_text(loading *l, cu_link link) {
    const cu_calls *cu = l->d->cu;
    const char *ptx = l->text->ptx.text;
    void *text = (void *)(uintptr_t)ptx; /* which stays as it is */
    void *code;
    size_t size = strlen(ptx) + 1;
    cu_result error = cu->link_add(link, CU_JIT_INPUT_PTX, text, size, "program", 0, NULL, NULL);
    if (!error) error = cu->link_complete(link, &code, &size);
    if (!error) error = cu->load(&l->module, code);
    if (!error) rt_entry_write(&l->entry, code, size, &l->d->base.context->cx);
    return error;
}

static void compile(loading *l) {
    int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE};
    void *values[] = {l->log, (void *)(uintptr_t)LOG_SIZE};
    cuda *d = l->d;
    cu_link link;
    cuda_must(d, "cuLinkCreate", d->cu->link_create(2, options, values, &link));
    cu_result error = link_text(l, link);
    d->cu->link_end(link);
    l->log[LOG_SIZE - 1] = 0;
    if (error && *l->log) refuse(d->base.context, l->log, l->text->ptx.text);
    cuda_must(d, "cuLinkAddData", error);
}

static bool load_entry(loading *l) {
    if (!l->entry.bytes) return false;
    if (!l->d->cu->load(&l->module, l->entry.bytes)) return true;
    rt_entry_replace(&l->entry);
    return false;
}

static void load_or_compile(void *arg) {
    loading *l = arg;
    rt_ptx *ptx = &l->text->ptx;
    if (load_entry(l)) return;
    if (!ptx->text)
        ptx->text = rt_make_ptx(l->d->base.context, l->p->module, l->options, &l->p->arena).text;
    compile(l);
}

cu_module cuda_load(cuda *d, rt_program *p, const rt_ptx_options *o, cuda_text *text) {
    ir_ctx *cx = &d->base.context->cx;
    loading l = {.d = d, .p = p, .options = o, .text = text};
    if (text->cubin && !d->cu->load(&l.module, text->cubin->bytes)) return l.module;
    const rt_key key = key_of(d, text);
    ir_begin_stage(cx, "driver", NULL);
    rt_entry_begin(&d->cache, &key, &l.entry);
    bool ok = ir_try(cx, load_or_compile, &l);
    ir_status status = cx->status;
    rt_entry_end(&l.entry);
    ir_end_stage(cx);
    if (!ok) ir_throw(cx, status);
    return l.module;
}

/* ---------------------------------------------------- code for processors that may not be here */

static void *copy(ir_arena *a, const void *bytes, size_t size) {
    return memcpy(ir_new_array(a, char, size + 1), bytes, size); /* a 0 follows */
}

typedef struct {
    const cu_calls *cu;
    ir_arena *arena;
    char *ptx; /* ends with a 0 */
    size_t size;
    char log[LOG_SIZE];
    rt_bytes code;
} assembly;

static cu_result make_current(const cu_calls *cu) {
    cu_device device;
    cu_context context;
    cu_result error = cu->device(&device, 0);
    if (!error) error = cu->retain(&context, device);
    return error ? error : cu->set_current(context);
}

static cu_result link_for(assembly *j, unsigned sm) {
    const cu_calls *cu = j->cu;
    int options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE, CU_JIT_TARGET};
    void *values[] = {j->log, (void *)(uintptr_t)LOG_SIZE, (void *)(uintptr_t)sm}, *code;
    size_t size;
    cu_link link;
    cu_result error = cu->link_create(3, options, values, &link);
    if (error) return error;
    error = cu->link_add(link, CU_JIT_INPUT_PTX, j->ptx, j->size + 1, "program", 0, NULL, NULL);
    if (!error) error = cu->link_complete(link, &code, &size);
    if (!error) j->code = (rt_bytes){copy(j->arena, code, size), size};
    cu->link_end(link);
    return error;
}

/* The thread has its own context again afterwards: it may use the driver itself. */
static cu_result assemble(assembly *j, unsigned sm) {
    cu_context before = NULL;
    cu_result error = j->cu->get_current(&before);
    if (error) return error;
    error = make_current(j->cu);
    if (!error) error = link_for(j, sm);
    j->cu->set_current(before);
    return error;
}

rt_bytes cuda_assemble(spvf_context *context, ir_arena *a, rt_bytes text, unsigned sm,
                       const char **why_not) {
    assembly *j = ir_new(a, assembly);
    j->cu = cuda_driver(why_not);
    if (!j->cu) return j->code;
    j->arena = a;
    j->ptx = copy(a, text.data, text.size);
    j->size = text.size;
    cu_result error = assemble(j, sm);
    j->log[LOG_SIZE - 1] = 0;
    if (error && *j->log) refuse(context, j->log, j->ptx);
    char name[150];
    if (error) cuda_describe(j->cu, error, name, sizeof name);
    if (error) rt_throw(context, IR_ERR_DEVICE, "cuda: the driver assembles nothing: %s", name);
    return j->code;
}

/* ---------------------------------------------------------------------------------- containers */

unsigned cuda_cubin_sm(const cuda *d, const ir_module *m) {
    const struct rt_images *images = m->images;
    for (uint32_t n = 0; images && n < images->cubin_count; n++) {
        unsigned sm = images->cubins[n].level;
        if (sm <= d->generation && sm / 10 == d->generation / 10) return sm;
    }
    return 0;
}

const rt_object_image *cuda_find_cubin(const ir_module *m, const char *ptx) {
    const struct rt_images *images = m->images;
    if (!images || !ptx) return NULL;
    uint64_t text = rt_hash_text(ptx);
    for (uint32_t n = 0; n < images->cubin_count; n++)
        if (images->cubins[n].text == text) return &images->cubins[n];
    return NULL;
}

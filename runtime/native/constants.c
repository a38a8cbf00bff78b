/* constants.c — a kernel for each of the values that launches give to its marked arguments.
 *
 * Values are compared as bytes.  The first RT_MAX_CONSTANTS of them get a kernel, with variants of
 * its own (variants.c); launches with further values run the code for any.  Nothing is replaced, so
 * a program whose values never repeat does not compile for ever.
 */
#include "runtime/native/native.h"

#include <stdlib.h>

typedef struct rt_constant_kernel {
    rt_kernel code;
    uint64_t size;
    unsigned char bytes[]; /* of all values, one after the other */
} constant_kernel;

void rt_constants_init(rt_constant_kernels *k) {
    *k = (rt_constant_kernels){0};
    rt_lock_init(&k->lock, false);
}

void rt_constants_free(rt_constant_kernels *k) {
    for (unsigned n = 0; n < k->n; n++) {
        rt_kernel_free(&k->of[n]->code);
        free(k->of[n]);
    }
    rt_lock_free(&k->lock);
}

/* A kernel has the same arguments in all launches, so their bytes need no names. */
static bool is_for(const constant_kernel *k, const rt_constants *values) {
    const unsigned char *at = k->bytes;
    for (uint32_t n = 0; n < values->n; n++) {
        const rt_constant *v = &values->list[n];
        if (v->size > k->size - (uint64_t)(at - k->bytes) || memcmp(at, v->bytes, v->size) != 0)
            return false;
        at += v->size;
    }
    return true;
}

static constant_kernel *new_kernel(const rt_constants *values) {
    uint64_t size = 0;
    for (uint32_t n = 0; n < values->n; n++) size += values->list[n].size;
    constant_kernel *k = malloc(sizeof *k + size);
    if (!k) return NULL;
    rt_kernel_init(&k->code);
    k->size = size;
    unsigned char *at = k->bytes;
    for (uint32_t n = 0; n < values->n; at += values->list[n++].size)
        memcpy(at, values->list[n].bytes, values->list[n].size);
    return k;
}

static rt_kernel *find(rt_constant_kernels *k, const rt_constants *values, bool *news) {
    for (unsigned n = 0; n < k->n; n++)
        if (is_for(k->of[n], values)) return &k->of[n]->code;
    if (k->n == RT_MAX_CONSTANTS) {
        *news = !k->told;
        k->told = true;
        return NULL;
    }
    constant_kernel *fresh = new_kernel(values);
    if (!fresh) return NULL;
    k->of[k->n] = fresh;
    k->n++;
    return &fresh->code;
}

rt_kernel *rt_constants_find(rt_constant_kernels *k, const rt_constants *values, bool *news) {
    *news = false;
    rt_lock_take(&k->lock);
    rt_kernel *found = find(k, values, news);
    rt_lock_release(&k->lock);
    return found;
}

void rt_tell_of_constants(ir_ctx *cx, const char *kernel) {
    ir_report(cx, (ir_message){.severity = IR_NOTE},
              "kernel @%s: its specialized arguments have had more than %d values; launches with "
              "further ones run code for any value",
              kernel, RT_MAX_CONSTANTS);
}

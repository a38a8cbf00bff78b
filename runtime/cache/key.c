/* key.c — what a variant of a kernel is known by: all that decides what its code is.
 *
 * The key is made of what the kernel says, with the name that profiles show; what is known of its
 * launches; the values of marked arguments; the options of code; and the compiler itself, so that a
 * changed compiler never finds code of the old one.  Code for values that have been the same is not
 * kept.
 */
#include "runtime/cache/cache.h"

static_assert(sizeof(void *) != 8 || sizeof(rt_native_options) == 192,
              "a new option belongs in the key");

static void add_number(rt_hash *h, uint64_t n) { rt_hash_add(h, &n, sizeof n); }

static void add_text(rt_hash *h, const char *text, size_t n) {
    add_number(h, n);
    rt_hash_add(h, text, n);
}

static void add_shape(rt_hash *h, const pass_group_shape *s) {
    for (unsigned d = 0; d < 3; d++) add_number(h, s->local[d]);
    add_number(h, s->whole_groups);
    add_number(h, s->no_offset);
    add_number(h, s->small_ids);
    add_number(h, s->short_numbers);
    add_number(h, s->dims);
    add_number(h, s->inner);
    add_number(h, s->transposes);
    add_number(h, s->apart);
    add_number(h, s->on_lines);
    add_number(h, s->streams);
    add_number(h, s->small);
    add_number(h, s->subgroup);
    for (unsigned n = 0; n < PASS_LOCAL_ARGS; n++) add_number(h, s->local_args[n]);
}

static void add_options(rt_hash *h, const rt_native_options *o) {
    add_shape(h, &o->shape);
    add_number(h, o->only_blocks);
    add_number(h, o->keep_calls);
    add_number(h, o->steps);
    add_text(h, o->machine->name, strlen(o->machine->name));
    add_number(h, o->code.level);
    add_number(h, o->code.lanes);
    add_number(h, o->code.regalloc.how);
    add_number(h, o->code.regalloc.seed);
    add_number(h, o->code.lines);
}

static void add_constants(rt_hash *h, const rt_constants *c) {
    add_number(h, c->n);
    for (uint32_t n = 0; n < c->n; n++) {
        add_number(h, c->list[n].param);
        add_text(h, c->list[n].bytes, c->list[n].size);
    }
}

rt_key rt_key_of(const ir_func *kernel, const rt_native_options *o, ir_arena *a,
                 ir_global_list *globals) {
    ir_text content = {.arena = a};
    rt_hash h;
    rt_key key;
    ir_content(kernel, &content, globals);
    rt_hash_begin(&h);
    add_text(&h, rt_build_id, RT_BUILD_ID_BYTES);
    add_text(&h, kernel->name, strlen(kernel->name));
    add_options(&h, o);
    add_constants(&h, &o->constants);
    add_text(&h, content.data, content.n);
    rt_hash_end(&h, key.bytes);
    return key;
}

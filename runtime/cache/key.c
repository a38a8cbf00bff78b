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

static void add_shape(rt_hash *h, const pass_group_shape *s) {
    for (unsigned d = 0; d < 3; d++) rt_hash_number(h, s->local[d]);
    rt_hash_number(h, s->whole_groups);
    rt_hash_number(h, s->no_offset);
    rt_hash_number(h, s->small_ids);
    rt_hash_number(h, s->short_numbers);
    rt_hash_number(h, s->dims);
    rt_hash_number(h, s->inner);
    rt_hash_number(h, s->transposes);
    rt_hash_number(h, s->apart);
    rt_hash_number(h, s->on_lines);
    rt_hash_number(h, s->streams);
    rt_hash_number(h, s->small);
    rt_hash_number(h, s->subgroup);
    for (unsigned n = 0; n < PASS_LOCAL_ARGS; n++) rt_hash_number(h, s->local_args[n]);
}

static void add_options(rt_hash *h, const rt_native_options *o) {
    add_shape(h, &o->shape);
    rt_hash_number(h, o->only_blocks);
    rt_hash_number(h, o->keep_calls);
    rt_hash_number(h, o->steps);
    rt_hash_bytes(h, o->machine->name, strlen(o->machine->name));
    rt_hash_number(h, o->code.level);
    rt_hash_number(h, o->code.lanes);
    rt_hash_number(h, o->code.regalloc.how);
    rt_hash_number(h, o->code.regalloc.seed);
    rt_hash_number(h, o->code.lines);
}

static void add_constants(rt_hash *h, const rt_constants *c) {
    rt_hash_number(h, c->n);
    for (uint32_t n = 0; n < c->n; n++) {
        rt_hash_number(h, c->list[n].param);
        rt_hash_bytes(h, c->list[n].bytes, c->list[n].size);
    }
}

rt_key rt_key_of(const ir_func *kernel, const rt_native_options *o, ir_arena *a,
                 ir_global_list *globals) {
    ir_text content = {.arena = a};
    rt_hash h;
    rt_key key;
    ir_content(kernel, &content, globals);
    rt_hash_begin(&h);
    rt_hash_bytes(&h, rt_build_id, RT_BUILD_ID_BYTES);
    rt_hash_bytes(&h, kernel->name, strlen(kernel->name));
    add_options(&h, o);
    add_constants(&h, &o->constants);
    rt_hash_bytes(&h, content.data, content.n);
    rt_hash_end(&h, key.bytes);
    return key;
}

/* fuzz_entry.c — bytes as an entry of the cache: checked, and read as an object whatever its
 * checksum is; an object that was read is loaded, and not run.
 */
#include "runtime/cache/cache.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load(const cg_object *o) {
    rt_code code;
    uint64_t bytes = 0;
    for (int s = 0; s < CG_SECTIONS; s++) bytes += o->size[s];
    if (bytes < 1 << 20 && rt_code_load(o, NULL, &code) == IR_OK) rt_code_unload(&code);
}

static void read_object(void *arg) {
    static const ir_global named[2] = {{.name = "a"}, {.name = "b"}};
    const ir_global *list[] = {&named[0], &named[1]};
    const ir_global_list globals = {.data = list, .n = 2};
    ir_text *payload = arg;
    cg_object o;
    if (rt_object_read((const uint8_t *)payload->data, payload->n, &globals, payload->arena, &o))
        load(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ir_ctx cx = {.limit = 64u << 20};
    ir_arena arena;
    if (size < sizeof(rt_entry_head)) return 0;
    uint8_t *file = malloc(size); /* as large as it is, so that what follows is noticed */
    memcpy(file, data, size);
    (void)rt_entry_check(file, size, &((const rt_entry_head *)(const void *)file)->key);
    ir_arena_init(&arena, &cx);
    ir_text payload = {.arena = &arena,
                       .data = (char *)file + sizeof(rt_entry_head),
                       .n = size - sizeof(rt_entry_head)};
    ir_try(&cx, read_object, &payload);
    ir_arena_free(&arena);
    free(file);
    return 0;
}

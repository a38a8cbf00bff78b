/* jit_stop.c — a program that gdb looks at: loads the sample, and faults in a kernel of it. */
#include "runtime/native/native.h"
#include "tests/codegen/sample.h"

int main(void) {
    ir_ctx cx = {0};
    ir_arena arena;
    cg_object object;
    rt_code code;
    ir_arena_init(&arena, &cx);
    sample_object(&arena, &object);
    rt_tools tools = {.gdb = true};
    if (rt_code_load(&object, NULL, &code) != IR_OK) return 1;
    rt_code_announce(&code, &object, &tools, &cx);
    void (*block)(const ir_group_info *g, void *const *args);
    void *at = rt_code_symbol(&code, &object, object.kernels.data[0].block);
    memcpy(&block, &at, sizeof block);
    ir_group_info no_local_memory = {.group_end = {1, 1, 1}};
    block(&no_local_memory, (void *[3]){NULL});
    return 0;
}

/* ptxas.c — PTX becomes code of a processor by NVIDIA's assembler, where that is installed: in the
 * folders of PATH, in CUDA_HOME or in /usr/local/cuda. */
#include "runtime/system/process.h"

#include <stdlib.h>
#include <unistd.h>

const char *rt_find_ptxas(ir_arena *a) {
    const char *path = rt_environment("PATH"), *home = rt_environment("CUDA_HOME");
    const char *folders = ir_sprintf(a, "%s:%s%s:/usr/local/cuda/bin", path ? path : "",
                                     home ? home : "", home && *home ? "/bin" : "");
    return rt_find_program_in(a, folders, "ptxas");
}

typedef struct {
    spvf_context *context;
    ir_arena *arena;
    const char *program;
    unsigned sm;
    int in, out, messages;
    rt_bytes result;
} assembly;

static void check_outcome(const assembly *j, rt_outcome outcome, unsigned seconds) {
    size_t n;
    if (outcome == RT_PROGRAM_MISSING)
        rt_throw(j->context, IR_ERR_DEVICE, "%s: cannot be started", j->program);
    if (outcome == RT_PROGRAM_TOO_SLOW)
        rt_throw(j->context, IR_ERR_DEVICE, "%s: has not ended after %u seconds", j->program,
                 seconds);
    if (outcome == RT_PROGRAM_FAILED)
        rt_throw(j->context, IR_ERR_DEVICE, "%s says: %.800s", j->program,
                 rt_read_memory_file(j->context, j->arena, j->messages, &n));
}

static void assemble(void *arg) {
    assembly *j = arg;
    char *argv[] = {(char *)(uintptr_t)j->program,
                    (char[]){"-arch"},
                    ir_sprintf(j->arena, "sm_%u", j->sm),
                    (char[]){"/dev/stdin"},
                    (char[]){"-o"},
                    (char[]){"/dev/stdout"},
                    NULL};
    const rt_program_run run = {.argv = argv,
                                .in = j->in,
                                .out = j->out,
                                .messages = j->messages,
                                .seconds = rt_program_seconds()};
    if (j->in < 0 || j->out < 0 || j->messages < 0)
        rt_throw(j->context, IR_ERR_IO, "files in memory cannot be made");
    check_outcome(j, rt_run_program(&run), run.seconds);
    j->result.data = rt_read_memory_file(j->context, j->arena, j->out, &j->result.size);
    if (!j->result.size)
        rt_throw(j->context, IR_ERR_DEVICE, "%s gave nothing for the module", j->program);
}

rt_bytes rt_assemble_ptx(spvf_context *context, ir_arena *a, rt_bytes text, unsigned sm) {
    assembly j = {.context = context, .arena = a, .program = rt_find_ptxas(a), .sm = sm};
    if (!j.program) return j.result;
    j.in = rt_memory_file(text.data, text.size);
    j.out = rt_memory_file("", 0);
    j.messages = rt_memory_file("", 0);
    bool ok = ir_try(&context->cx, assemble, &j);
    if (j.in >= 0) close(j.in);
    if (j.out >= 0) close(j.out);
    if (j.messages >= 0) close(j.messages);
    if (!ok) ir_throw(&context->cx, context->cx.status);
    return j.result;
}

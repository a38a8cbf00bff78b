/* fuse.c KERNELS.spv FUSED.spv: makes one kernel of `scale` and `add`, and writes it as SPIR-V for
 * any OpenCL driver.  Prints what became of each parameter. */
#include "runtime/spvfuse.h"
#include <stdio.h>

static void show(void *user, const spvf_message *message) {
    (void)user;
    fprintf(stderr, "%s\n", message->formatted);
}

static spvf_module *load(spvf_context *context, const char *name) {
    static char bytes[1 << 20];
    FILE *file = fopen(name, "rb");
    if (!file) return NULL;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    spvf_module *module = NULL;
    spvf_module_load(context, name, bytes, size, NULL, &module);
    return module;
}

static bool write_spirv(const spvf_fusion *fusion, const char *name) {
    spvf_blob spirv;
    if (spvf_module_emit(spvf_fusion_module(fusion), "spirv", &spirv) != SPVF_OK) return false;
    FILE *file = fopen(name, "wb");
    bool written = file && fwrite(spirv.data, 1, spirv.size, file) == spirv.size;
    if (file && fclose(file)) written = false;
    spvf_blob_destroy(&spirv);
    return written;
}

static void print(const spvf_fusion_info *info) {
    static const char *const uses[] = {"argument", "the same as argument", "a constant", "unused",
                                       "a register"};
    printf("%s has %zu arguments\n", info->name, info->arg_count);
    for (size_t i = 0; i < info->param_count; i++) {
        const spvf_param_info *param = info->params[i];
        printf("  %s, parameter %u: %s", param->kernel, param->param, uses[param->use]);
        if (param->arg != UINT32_MAX) printf(" %u", param->arg);
        printf("\n");
    }
}

int main(int argc, char **argv) {
    spvf_context_options options = {.size = sizeof options, .message = show};
    spvf_context *context;
    if (argc != 3 || spvf_context_create(&options, &context) != SPVF_OK) return 1;
    spvf_module *module = load(context, argv[1]);
    spvf_range range = {.dims = 1, .global = {4096}, .local = {64}};
    spvf_member members[] = {{module, "scale", range}, {module, "add", range}};
    /* What `scale` writes is what `add` reads first, and nothing else needs it. */
    spvf_identity same = {.member_a = 0, .param_a = 2, .member_b = 1, .param_b = 0};
    spvf_promotion internal = {.member = 0, .param = 2, .kind = SPVF_PROMOTE_AUTO};
    spvf_fuse_options what = {.size = sizeof what,
                              .name = "axpy",
                              .members = members,
                              .member_count = 2,
                              .identities = &same,
                              .identity_count = 1,
                              .promotions = &internal,
                              .promotion_count = 1};
    spvf_fusion *fusion = NULL;
    bool done =
        module && spvf_fuse(context, &what, &fusion) == SPVF_OK && write_spirv(fusion, argv[2]);
    if (done) print(spvf_fusion_get_info(fusion));
    spvf_fusion_destroy(fusion);
    spvf_module_destroy(module);
    spvf_context_destroy(context);
    return !done;
}

/* header.c — `spvfuse compile --header FILE`: a C header for the object that is written.
 *
 * For each kernel it declares the function that runs work-groups, and defines an inline function
 * that takes the kernel's arguments by their C types, so that a compiler checks calls.  Names of
 * arguments get a prefix, since they may be keywords of C or C++.  A kernel whose name is no name
 * of C is left out; it is in the array spvf_kernels all the same.
 */
#include "runtime/cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_identifier(const char *name) {
    if (!name || !(isalpha((unsigned char)*name) || *name == '_')) return false;
    while (isalnum((unsigned char)*name) || *name == '_') name++;
    return *name == '\0';
}

/* The C type of a scalar of OpenCL C, or NULL: what it is given by is an address. */
static const char *c_type(const spvf_arg_info *arg) {
    static const struct {
        const char *opencl, *c;
    } types[] = {{"char", "int8_t"},     {"uchar", "uint8_t"},        {"short", "int16_t"},
                 {"ushort", "uint16_t"}, {"int", "int32_t"},          {"uint", "uint32_t"},
                 {"long", "int64_t"},    {"ulong", "uint64_t"},       {"float", "float"},
                 {"double", "double"},   {"unsigned int", "uint32_t"}};
    for (size_t i = 0; arg->type_name && i < sizeof types / sizeof *types; i++)
        if (strcmp(arg->type_name, types[i].opencl) == 0) return types[i].c;
    return NULL;
}

/* By its number if the name is none of C, or that of an argument before it. */
static void put_name(FILE *f, const spvf_kernel_info *kernel, size_t index) {
    const char *name = kernel->args[index]->name;
    bool usable = is_identifier(name);
    for (size_t i = 0; i < index && usable; i++)
        usable = !kernel->args[i]->name || strcmp(kernel->args[i]->name, name) != 0;
    if (usable)
        fprintf(f, "arg_%s", name);
    else
        fprintf(f, "arg_%zu", index);
}

static void put_parameter(FILE *f, const spvf_kernel_info *kernel, size_t index) {
    const spvf_arg_info *arg = kernel->args[index];
    const char *type = arg->kind == SPVF_ARG_VALUE ? c_type(arg) : NULL;
    fprintf(f, ",%s", index ? " " : "\n    ");
    if (type)
        fprintf(f, "%s ", type);
    else if (arg->kind == SPVF_ARG_LOCAL)
        fprintf(f, "uint64_t ");
    else
        fprintf(f, "%svoid *", arg->read_only || arg->kind == SPVF_ARG_VALUE ? "const " : "");
    put_name(f, kernel, index);
    if (arg->kind == SPVF_ARG_LOCAL) fprintf(f, " /* offset from spvf_groups->local */");
    if (arg->kind == SPVF_ARG_VALUE && !type)
        fprintf(f, " /* of %llu bytes */", (unsigned long long)arg->size);
}

/* What the kernel is given: a buffer as it is, local memory as an offset, otherwise an address. */
static void put_argument(FILE *f, const spvf_kernel_info *kernel, size_t index) {
    const spvf_arg_info *arg = kernel->args[index];
    bool by_address = arg->kind == SPVF_ARG_VALUE && c_type(arg);
    fprintf(f, "%s(void *)%s", index ? ", " : "",
            by_address                    ? "&"
            : arg->kind == SPVF_ARG_LOCAL ? "(uintptr_t)"
                                          : "");
    put_name(f, kernel, index);
}

static void put_kernel(FILE *f, const spvf_kernel_info *kernel) {
    fprintf(f,
            "\nvoid spvf_block_%s(const spvf_group_info *groups, void *const *args)\n"
            "    __asm__(\"%s.block\");\n"
            "static inline void spvf_run_%s(const spvf_group_info *spvf_groups",
            kernel->name, kernel->name, kernel->name);
    for (size_t i = 0; i < kernel->arg_count; i++) put_parameter(f, kernel, i);
    fprintf(f, ") {\n    void *spvf_args[] = {");
    for (size_t i = 0; i < kernel->arg_count; i++) put_argument(f, kernel, i);
    fprintf(f, "%s};\n    spvf_block_%s(spvf_groups, spvf_args);\n}\n",
            kernel->arg_count ? "" : "0", kernel->name);
}

bool cli_write_header(const char *path, const spvf_module *m, const char *source) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) return false;
    fprintf(f,
            "/* Kernels of %s, made by spvfuse compile --header.  spvf_run_K runs the work-groups\n"
            " * from groups->group_id up to groups->group_end of kernel K. */\n"
            "#pragma once\n"
            "#include \"spvfuse.h\"\n\n"
            "extern const spvf_native_kernel %s[]; /* ended by one without a name */\n",
            source, cli_has("--table") ? cli_get("--table") : "spvf_kernels");
    for (size_t i = 0; i < spvf_module_kernel_count(m); i++) {
        const spvf_kernel_info *kernel = spvf_module_kernel(m, i);
        if (!kernel->refusal && is_identifier(kernel->name)) put_kernel(f, kernel);
    }
    bool ok = fclose(f) == 0 && cli_write(path, text, size);
    free(text);
    return ok;
}

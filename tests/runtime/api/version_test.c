/* version_test.c — which library runs, and what it says that it can do. */
#include "runtime/spvfuse.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(version, is_that_of_the_headers) {
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", SPVF_VERSION_MAJOR, SPVF_VERSION_MINOR,
             SPVF_VERSION_PATCH);
    cr_assert_eq(spvf_version(), SPVF_VERSION);
    cr_assert_str_eq(spvf_version_text(), text);
    cr_assert_lt(SPVF_MAKE_VERSION(0, 1, 9), SPVF_MAKE_VERSION(0, 2, 0));
    cr_assert_lt(SPVF_MAKE_VERSION(0, 99, 9), SPVF_MAKE_VERSION(1, 0, 0));
}

Test(version, features_have_names_and_descriptions) {
    static const char *const names[] = {"spirv", "code", "native", "devices", "opencl-c", "ptxas"};
    size_t n = 0;
    for (const char *name, *about; (name = spvf_feature_name(n, &about)); n++) {
        cr_assert_lt(n, sizeof names / sizeof *names);
        cr_assert_str_eq(name, names[n]);
        cr_assert(about && *about);
    }
    cr_assert_eq(n, sizeof names / sizeof *names);
    cr_assert_str_eq(spvf_feature_name(0, NULL), "spirv");
    cr_assert_null(spvf_feature(NULL));
    cr_assert_null(spvf_feature(""));
    cr_assert_null(spvf_feature("SPIRV"));
}

/* What it says is what it does. */
Test(version, versions_of_spirv_are_written) {
    static const char text[] = "target 64\nkernel @k(%p: ptr.global) {\nentry:\n  ret\n}\n";
    spvf_context *c;
    spvf_module *m;
    spvf_blob blob;
    char target[40];
    cr_assert_eq(spvf_context_create(NULL, &c), SPVF_OK);
    cr_assert_eq(spvf_module_load(c, "k", text, sizeof text - 1, NULL, &m), SPVF_OK);
    for (const char *at = spvf_feature("spirv"); *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        snprintf(target, sizeof target, "spirv:%.*s", (int)n, at);
        cr_assert_eq(spvf_module_emit(m, target, &blob), SPVF_OK, "%s", target);
        spvf_blob_destroy(&blob);
        at += n;
    }
    for (const char *at = spvf_feature("code"); *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        snprintf(target, sizeof target, "%.*s", (int)n, at);
        cr_assert_eq(spvf_module_emit(m, target, &blob), SPVF_OK, "%s", target);
        spvf_blob_destroy(&blob);
        at += n;
    }
    cr_assert_neq(spvf_module_emit(m, "spirv:1.9", &blob), SPVF_OK);
    spvf_module_destroy(m);
    spvf_context_destroy(c);
}

Test(version, devices_can_be_named) {
    const char *list = spvf_feature("devices");
    cr_assert_str_eq(list, "check cpu opencl cuda");
    const char *native = spvf_feature("native");
    if (native) cr_assert(strstr(spvf_feature("code"), "x86_64"), "%s", native);
}

Test(version, compilers_are_looked_for) {
    setenv("SPVFUSE_CLANG", "/nowhere/clang", 1);
    cr_assert_null(spvf_feature("opencl-c"));
    setenv("PATH", "/nowhere", 1);
    setenv("CUDA_HOME", "/nowhere", 1);
    if (access("/usr/local/cuda/bin/ptxas", X_OK) != 0) cr_assert_null(spvf_feature("ptxas"));
    cr_assert_null(spvf_feature("opencl-c"), "the answer has been kept");
}

static void *ask(void *arg) {
    (void)arg;
    return (void *)(uintptr_t)spvf_feature("code");
}

Test(version, threads_get_the_same_text) {
    enum { THREADS = 8 };
    pthread_t t[THREADS];
    void *first, *text;
    for (unsigned k = 0; k < THREADS; k++) cr_assert_eq(pthread_create(&t[k], NULL, ask, NULL), 0);
    pthread_join(t[0], &first);
    for (unsigned k = 1; k < THREADS; k++) {
        pthread_join(t[k], &text);
        cr_assert_eq(text, first);
    }
}

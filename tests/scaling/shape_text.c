/* shape_text.c — IR text from templates, and the head and the end of most kernels. */
#include "tests/scaling/shapes_impl.h"

#include <stdarg.h>
#include <string.h>

/* What the place at `text` stands for; gives what follows the place. */
static const char *fill_in(FILE *out, uint32_t k, const char *text, va_list *args) {
    if (*text == '#') {
        fprintf(out, "%u", k);
    } else if (*text == '$' && k) {
        fprintf(out, "%%x%u", k - 1);
    } else if (*text == '$') {
        fputs("%v", out);
    } else if (text[1] == 's') {
        fputs(va_arg(*args, const char *), out);
        return text + 3;
    } else {
        fprintf(out, "%u", va_arg(*args, uint32_t));
        return text + 2;
    }
    return text + 1;
}

void shape_put(FILE *out, uint32_t k, const char *text, ...) {
    va_list args;
    va_start(args, text);
    while (*text) {
        bool place =
            *text == '#' || *text == '$' || !strncmp(text, "{}", 2) || !strncmp(text, "{s}", 3);
        if (place)
            text = fill_in(out, k, text, &args);
        else
            fputc(*text++, out);
    }
    va_end(args);
}

void shape_begin(FILE *out, const char *name, const char *more_params) {
    shape_put(out, 0,
              "kernel @{s}(%a: ptr.global of i32{s}) {\n"
              "entry:\n"
              "  %gl: i64 = global_id 0\n"
              "  %g: i32 = trunc %gl\n"
              "  %go: i64 = shl %gl, 2\n"
              "  %q: ptr.global = ptradd %a, %go inbounds\n"
              "  %v: i32 = load %q align 4\n",
              name, more_params);
}

void shape_end(FILE *out, const char *value) {
    shape_put(out, 0, "  store {s}, %q align 4\n  ret\n}\n", value);
}

void shape_end_series(FILE *out, uint32_t n) {
    shape_put(out, n, "  store $, %q align 4\n  ret\n}\n");
}

void shape_element(FILE *out, uint32_t k, uint32_t index) {
    shape_put(out, k, "  %p#: ptr.global = ptradd %a, {} inbounds\n", 4 * index);
}

void shape_fold(FILE *out, uint32_t n, const char *name) {
    for (uint32_t k = 0; k < n; k++)
        shape_put(out, k, "  %x#: i32 = {s} $, %{s}#\n", k % 2 ? "xor" : "sub", name);
}

/* ranges.h — nd-ranges as tests write them: "64,4/16,1+8", sizes, local sizes, offset. */
#ifndef SPVFUSE_TESTS_RANGES_H
#define SPVFUSE_TESTS_RANGES_H

#include "passes/passes.h"

#include <stdlib.h>

static inline unsigned parse_numbers(const char **s, uint64_t out[3]) {
    unsigned n = 0;
    while (**s >= '0' && **s <= '9') {
        out[n++] = strtoull(*s, (char **)(uintptr_t)s, 10);
        if (**s == ',') ++*s;
    }
    return n;
}

static inline ir_range parse_range(const char *s) {
    ir_range r = {0};
    r.dims = parse_numbers(&s, r.global);
    if (*s == '/') s++, parse_numbers(&s, r.local);
    if (*s == '+') s++, parse_numbers(&s, r.offset);
    return r;
}

#endif

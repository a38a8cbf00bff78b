/* structs.c — structs of the public headers whose size a caller says, so that programs and library
 * may be of different versions (docs/LIBRARY.md, "Versions of structs").
 *
 * What a caller has left out is 0, which is what all members meant before they came to be.  What
 * the library does not know has to be 0 for the same reason: then it means nothing.  Linux treats
 * the structs of clone3 and openat2 so.  A size of more than a page is a struct without a size.
 */
#include "runtime/api/runtime.h"

enum { MOST_BYTES = 4096 };

/* Of the first byte from `known` on that is not 0; `size` if there is none. */
static size_t find_byte(const char *bytes, size_t known, size_t size) {
    while (known < size && !bytes[known]) known++;
    return known;
}

bool rt_take_struct(spvf_context *context, const char *call, void *to, const void *from,
                    size_t size) {
    size_t theirs;
    memset(to, 0, size);
    if (!from) return true;
    memcpy(&theirs, from, sizeof theirs);
    if (theirs < sizeof theirs || theirs > MOST_BYTES) {
        rt_refuse_call(context, call, "options: size is %zu, not that of the struct", theirs);
        return false;
    }
    const size_t unknown = find_byte(from, size, theirs);
    if (unknown < theirs) {
        const ir_message m = {.severity = IR_ERROR, .name = "unknown-member"};
        if (context)
            ir_report(&context->cx, m,
                      "%s: options: byte %zu is not 0, and library %s knows %zu bytes of them",
                      call, unknown, spvf_version_text(), size);
        return false;
    }
    memcpy(to, from, theirs < size ? theirs : size);
    memcpy(to, &size, sizeof size);
    return true;
}

bool rt_take_passes(spvf_context *context, const char *call, spvf_pass_options *to,
                    const spvf_pass_options **given) {
    if (!rt_take_options(context, call, to, *given)) return false;
    if (*given) *given = to;
    return true;
}

bool rt_has_size(spvf_context *context, const char *call, const void *to) {
    size_t theirs;
    if (!to) return true;
    memcpy(&theirs, to, sizeof theirs);
    if (theirs >= sizeof theirs && theirs <= MOST_BYTES) return true;
    rt_refuse_call(context, call, "result: size is %zu, not that of the struct", theirs);
    return false;
}

void rt_give_struct(void *to, const void *from, size_t size) {
    size_t theirs;
    if (!to) return;
    memcpy(&theirs, to, sizeof theirs);
    memcpy((char *)to + sizeof theirs, (const char *)from + sizeof theirs,
           (theirs < size ? theirs : size) - sizeof theirs);
    if (theirs > size) memset((char *)to + size, 0, theirs - size);
}

const void *rt_list_elements(ir_arena *a, const void *elements, size_t size, size_t n) {
    const void **list = ir_new_array(a, const void *, n + 1);
    for (size_t k = 0; k < n; k++) list[k] = (const char *)elements + k * size;
    return list;
}

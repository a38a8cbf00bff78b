/* attributes.c — CL_KERNEL_ATTRIBUTES: the __attribute__ words of a kernel of OpenCL C.
 *
 * The attributes are those of SPIR-V, written as the source would: "reqd_work_group_size(8,1,1)"
 * and the like, with spaces between.  SPIR-V drops the sign of the type in vec_type_hint.  Whether
 * it is unsigned is read off the source, in the attributes in front of the kernel's name; a type
 * that a macro hides is taken to be signed.
 */
#include "runtime/opencl/ocl.h"

/* ----------------------------------------------------------------------------------- the source */

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The place of `name` as a word before "(", or NULL. */
static const char *find_declarator(const char *source, const char *name) {
    size_t n = strlen(name);
    for (const char *s = source; (s = strstr(s, name)); s += n)
        if ((s == source || !is_word_char(s[-1])) && s[n + strspn(s + n, " \t\n")] == '(') return s;
    return NULL;
}

/* Where the declaration that has `at` in it begins: after a ';' or a '}'. */
static const char *find_begin(const char *source, const char *at) {
    const char *s = at;
    while (s > source && s[-1] != ';' && s[-1] != '}') s--;
    return s;
}

/* Does the last vec_type_hint between these places name an unsigned type? */
static bool names_unsigned(const char *s, const char *end) {
    static const char word[] = "vec_type_hint";
    bool is_unsigned = false;
    while ((s = strstr(s, word)) && s < end) {
        s += sizeof word - 1;
        s += strspn(s, "_ \t\n(");
        is_unsigned = *s == 'u';
    }
    return is_unsigned;
}

static bool is_hint_unsigned(const char *source, const char *name) {
    const char *at = source ? find_declarator(source, name) : NULL;
    return at && names_unsigned(find_begin(source, at), at);
}

/* ------------------------------------------------------------------------------------- the text */

enum { ROOM = 200 };

typedef struct {
    char text[ROOM];
    size_t n;
} list;

#define ADD(to, ...) add_end(to, snprintf((to)->text + (to)->n, ROOM - (to)->n, __VA_ARGS__))

/* Text is added after what has been written; ROOM is enough for all. */
static void add_end(list *to, int written) { to->n += (size_t)written; }

static void add_sizes(list *to, const char *word, const uint32_t size[3]) {
    if (size[0]) ADD(to, "%s%s(%u,%u,%u)", to->n ? " " : "", word, size[0], size[1], size[2]);
}

/* The literal of VecTypeHint: lanes above, the type below. */
static void add_hint(list *to, uint32_t literal, bool is_unsigned) {
    static const char *const types[] = {"char", "short", "int", "long", "half", "float", "double"};
    uint32_t lanes = literal >> 16, type = literal & 0xffff;
    if (type >= sizeof types / sizeof *types) return;
    ADD(to, "%svec_type_hint(%s%s", to->n ? " " : "", is_unsigned && type < 4 ? "u" : "",
        types[type]);
    if (lanes > 1) ADD(to, "%u", lanes);
    ADD(to, ")");
}

cl_int ocl_give_attributes(const ocl_answer *a, cl_kernel k) {
    const ir_kernel_attrs *attrs = &k->ir->attrs;
    const cl_program p = k->program;
    list to = {"", 0};
    if (p->origin == OCL_FROM_IL || p->origin == OCL_FROM_BINARY) return ocl_give_string(a, "");
    add_sizes(&to, "reqd_work_group_size", k->info->required_local_size);
    add_sizes(&to, "work_group_size_hint", k->info->local_size_hint);
    if (attrs->has_vec_hint)
        add_hint(&to, attrs->vec_hint, is_hint_unsigned(p->source, k->info->name));
    if (k->info->required_subgroup_size)
        ADD(&to, "%sintel_reqd_sub_group_size(%u)", to.n ? " " : "",
            k->info->required_subgroup_size);
    return ocl_give_string(a, to.text);
}

/* mirror.c — asserts that public structs and enumerators equal those of the layers below, which
 * mirror.def lists.  Lists and tables of such structs are therefore passed through without a copy.
 *
 * To find members that the list lacks, a third struct is declared from the listed members: it is
 * smaller than the inner one if a member is missing.
 */
#include "ir/launch.h"
#include "ir/remark.h"
#include "runtime/native/native.h"

#define STRUCT(public, inner) typedef struct {
#define MEMBER(public, inner, a, b) __typeof__(((inner *)0)->b) b;
#define END(public, inner)                                                                         \
    }                                                                                              \
    listed_##inner;
#define VALUE(public, inner)
#include "runtime/api/mirror.def"
#undef STRUCT
#undef MEMBER
#undef END
#undef VALUE

#define SIZE(type, member) sizeof(((type *)0)->member)

#define STRUCT(public, inner)                                                                      \
    _Static_assert(sizeof(listed_##inner) == sizeof(inner), "the list lacks a member of " #inner); \
    _Static_assert(sizeof(public) == sizeof(inner), #public " and " #inner);
#define MEMBER(public, inner, a, b)                                                                \
    _Static_assert(offsetof(public, a) == offsetof(inner, b), #inner "." #b);                      \
    _Static_assert(SIZE(public, a) == SIZE(inner, b), #inner "." #b);
#define END(public, inner)
#define VALUE(public, inner) _Static_assert((int)(public) == (int)(inner), #inner);
#include "runtime/api/mirror.def"

ir_range rt_inner_range(const spvf_range *r) {
    ir_range inner;
    memcpy(&inner, r, sizeof inner);
    return inner;
}

spvf_range rt_public_range(const ir_range *r) {
    spvf_range public;
    memcpy(&public, r, sizeof public);
    return public;
}

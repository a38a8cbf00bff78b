/* check_memory.c — address spaces, objects, and the rules for every access.
 *
 * Each object has addresses of its own with a guard on both sides, so an access that leaves it hits
 * nothing else and can be named by the object it left.  An address space is a table of 2^20
 * entries, one per 4 GiB of 64-bit addresses or per 4 KiB of 32-bit addresses.  A cursor goes round
 * the table and takes the next entries whose objects have ended; until it comes by again, an ended
 * object is still known by name.  The base of an object is aligned as promised and not better:
 * what works only by luck is found.
 */
#include "runtime/devices/check/check_impl.h"

enum { ENTRIES = 1 << 20 };
static const uint64_t NULL_PAGE = 1 << 16; /* addresses below belong to the null pointer */

/* ------------------------------------------------------------------------------------ addresses */

static uint64_t guard_of(unsigned wide, uint64_t size) {
    if (wide) return UINT64_C(1) << 30;
    if (size < 1024) return 1024;
    return size < 1 << 20 ? size : 1 << 20;
}

static void grow_table(check_device *d, check_space *s, uint32_t need) {
    uint32_t cap = s->cap ? s->cap : 64;
    while (cap < need) cap *= 2;
    check_object **table = ir_new_array(&d->arena, check_object *, cap);
    if (s->cap) memcpy(table, s->table, s->cap * sizeof *table);
    s->table = table;
    s->cap = cap;
}

static void recycle(check_space *s, check_object *o) {
    o->next = s->unused;
    s->unused = o;
}

static void clear_entry(check_space *s, uint32_t e) {
    check_object *o = s->table[e];
    if (!o) return;
    s->table[e] = NULL;
    if (--o->entries == 0) recycle(s, o);
}

/* The first of `need` free entries in a row, from the cursor on and around. */
static uint32_t find_entries(check_device *d, check_space *s, uint64_t need) {
    uint32_t start = (uint32_t)(NULL_PAGE >> s->shift) + 1;
    uint32_t at = s->cursor > start ? s->cursor : start, run = 0;
    for (uint32_t tried = 0; tried < 2 * ENTRIES; tried++) {
        if (at == ENTRIES) {
            at = start;
            run = 0;
        }
        bool is_free = at >= s->n || !s->table[at] || !s->table[at]->alive;
        run = is_free ? run + 1 : 0;
        at++;
        if (run == need) {
            s->cursor = at;
            return at - run;
        }
    }
    ir_throw(d->cx, IR_ERR_MEMORY);
}

static check_object *new_object(check_device *d, check_space *s) {
    check_object *o = s->unused;
    if (!o) return ir_new(&d->arena, check_object);
    s->unused = o->next;
    *o = (check_object){0};
    return o;
}

check_object *check_object_new(check_device *d, unsigned wide, uint64_t size, uint64_t align) {
    check_space *s = &d->space[wide];
    s->shift = wide ? 32 : 12;
    uint64_t guard = guard_of(wide, size);
    if (size >> 48 || align > 1 << 20) ir_throw(d->cx, IR_ERR_LIMIT);
    uint64_t need = ((size + 2 * align + 2 * guard) >> s->shift) + 1;
    if (need >= ENTRIES) ir_throw(d->cx, IR_ERR_MEMORY);
    uint32_t first = find_entries(d, s, need), end = first + (uint32_t)need;
    if (end > s->cap) grow_table(d, s, end);
    if (end > s->n) s->n = end;
    for (uint32_t e = first; e < end; e++) clear_entry(s, e);
    check_object *o = new_object(d, s);
    for (uint32_t e = first; e < end; e++) s->table[e] = o;
    uint64_t start = s->start + ((uint64_t)first << s->shift) + guard;
    *o = (check_object){.size = size, .alive = true, .entries = (uint32_t)need};
    o->base = (start + 2 * align - 1) / (2 * align) * (2 * align) + align;
    return o;
}

void check_forget_temporary(check_device *d, unsigned wide) {
    check_space *s = &d->space[wide];
    uint32_t end = 1;
    for (uint32_t e = 1; e < s->n; e++) {
        if (s->table[e] && s->table[e]->temporary) clear_entry(s, e);
        if (s->table[e]) end = e + 1;
    }
    if (s->n) s->n = s->cursor = end;
}

check_object *check_object_at(const check_state *l, uint64_t address) {
    const check_space *s = &l->device->space[l->setup->wide];
    if (address < s->start) return check_host_at(l->device, address);
    uint64_t e = (address - s->start) >> s->shift;
    return e < s->n ? s->table[e] : NULL;
}

/* -------------------------------------------------------------- storage of the launch's objects */

static check_storage *take_storage(check_state *l, uint64_t size) {
    unsigned class = 4;
    while (class < CHECK_CLASSES && UINT64_C(1) << class < size) class ++;
    if (class >= CHECK_CLASSES) ir_throw(l->device->cx, IR_ERR_MEMORY);
    check_storage *s = l->scratch.storage[class];
    if (s) {
        l->scratch.storage[class] = s->next;
    } else {
        s = ir_new(l->arena, check_storage);
        s->cap = UINT64_C(1) << class;
        s->bytes = ir_alloc(l->arena, s->cap);
        s->undef = ir_alloc(l->arena, s->cap);
    }
    memset(s->bytes, 0, size);
    memset(s->undef, 1, size);
    return s;
}

static void give_storage(check_state *l, check_storage *s) {
    unsigned class = 0;
    while (UINT64_C(1) << class < s->cap) class ++;
    s->next = l->scratch.storage[class];
    l->scratch.storage[class] = s;
}

check_object *check_make(check_state *l, ir_space space, uint64_t size, uint64_t align) {
    check_storage *store = take_storage(l, size);
    check_object *o = check_object_new(l->device, l->setup->wide, size, align);
    o->temporary = true;
    o->store = store;
    o->launch = l->number;
    o->space = space;
    return o;
}

void check_end(check_state *l, check_object *o) {
    o->alive = false;
    give_storage(l, o->store);
    o->store = NULL;
}

/* ------------------------------------------------------------------------------------- accesses */

static const char *verb(const ir_access *a) {
    if (a->kind & IR_ACCESS_ATOMIC) return "atomic access";
    return a->kind & IR_ACCESS_WRITE ? "write" : "read";
}

static check_finding finding_of(const check_state *l, check_kind kind, const ir_access *a,
                                const check_object *o) {
    return (check_finding){.kind = kind,
                           .severity = IR_ERROR,
                           .detail = a->kind,
                           .here = check_current(l, a->at),
                           .object = o,
                           .address = a->address,
                           .size = a->size};
}

static void report_no_object(check_state *l, const ir_access *a) {
    bool is_null = a->address < NULL_PAGE;
    check_finding f = finding_of(l, is_null ? CHECK_NULL : CHECK_NO_OBJECT, a, NULL);
    check_find(l, &f, "%s of %u bytes through %s (address 0x%llx)", verb(a), a->size,
               is_null ? "a null pointer" : "a pointer to nothing", (unsigned long long)a->address);
}

static void report_bounds(check_state *l, const ir_access *a, const check_object *o) {
    check_finding f = finding_of(l, CHECK_OUT_OF_BOUNDS, a, o);
    check_find(l, &f, "%s of %u bytes at %s is out of bounds: %s has %llu bytes", verb(a), a->size,
               check_place(l, o, a->address).text, check_name(l, o),
               (unsigned long long)(o->size - o->named_from));
}

static void report_object(check_state *l, check_kind kind, const ir_access *a,
                          const check_object *o, const char *why) {
    check_finding f = finding_of(l, kind, a, o);
    check_find(l, &f, "%s of %u bytes at %s%s", verb(a), a->size,
               check_place(l, o, a->address).text, why);
}

static void report_alignment(check_state *l, const ir_access *a, const check_object *o) {
    check_finding f = finding_of(l, CHECK_MISALIGNED, a, o);
    check_find(l, &f, "%s of %u bytes at %s is not aligned to %u bytes", verb(a), a->size,
               check_place(l, o, a->address).text, a->align);
}

/* Generic pointers reach everything; constant ones also what a buffer argument brings. */
static bool fits_space(const ir_access *a, const check_object *o) {
    return a->space == o->space || a->space == IR_GENERIC ||
           (a->space == IR_CONST && o->space == IR_GLOBAL);
}

/* May the object be used like that, wherever the bytes are?  Otherwise reports why not. */
static bool may_use(check_state *l, const ir_access *a, const check_object *o) {
    bool writes = (a->kind & IR_ACCESS_WRITE) != 0;
    if (!o->alive)
        report_object(l, CHECK_ENDED, a, o, " after the end of its lifetime");
    else if (!fits_space(a, o))
        report_object(l, CHECK_WRONG_SPACE, a, o,
                      ", which is not in the address space of the pointer");
    else if (o->space == IR_PRIVATE && l->item && o->owner != l->item->index)
        report_object(l, CHECK_FOREIGN_PRIVATE, a, o, ", private memory of another work-item");
    else if (writes && o->read_only)
        report_object(l, CHECK_READ_ONLY, a, o, ", which is read-only");
    else
        return true;
    return false;
}

/* The object that all bytes of the access lie in, or NULL after a report. */
static check_object *locate(check_state *l, const ir_access *a) {
    check_object *o = check_object_at(l, a->address);
    uint64_t offset = o ? a->address - o->base : 0;
    if (!o || a->address < NULL_PAGE) {
        report_no_object(l, a);
        return NULL;
    }
    if (!may_use(l, a, o)) return NULL;
    if (offset > o->size || o->size - offset < a->size) {
        report_bounds(l, a, o);
        return NULL;
    }
    if (a->align && (a->address & (a->align - 1))) report_alignment(l, a, o);
    return o;
}

/* An exchange is a read and a write; it counts once. */
static void count_access(check_state *l, const ir_access *a, const check_object *o) {
    check_traffic *t = &l->findings.result->memory[o->space];
    bool writes = (a->kind & IR_ACCESS_WRITE) != 0;
    if (!(a->kind & IR_ACCESS_ATOMIC)) {
        t->loads += !writes;
        t->stores += writes;
    } else {
        t->atomics += !writes || a->at->op == IR_OP_atomic_store;
    }
    *(writes ? &t->bytes_written : &t->bytes_read) += a->size;
}

bool check_read(void *user, const ir_access *a, uint8_t *bytes, uint8_t *undef) {
    check_state *l = user;
    check_object *o = locate(l, a);
    if (!o && l->device->for_people) {
        memset(bytes, 0, a->size);
        memset(undef, 0, a->size);
        return true;
    }
    if (!o) return false;
    memcpy(bytes, o->store->bytes + (a->address - o->base), a->size);
    memcpy(undef, o->store->undef + (a->address - o->base), a->size);
    if (memchr(undef, 1, a->size)) check_note_undefined_read(l, a, o);
    count_access(l, a, o);
    if (check_is_shared(o)) {
        check_async_access(l, o, a);
        check_race_read(l, o, a);
    }
    return true;
}

/* A plain store of a value is a use of it when others can see it; copies only pass it on, and the
 * interpreter has looked at the operands of the other atomics. */
static bool uses_value(const ir_access *a) {
    switch (a->at->op) {
    case IR_OP_store:
    case IR_OP_fill:
    case IR_OP_atomic_store:
    case IR_OP_atomic_xchg: return true;
    default: return false;
    }
}

static void check_defined(check_state *l, const ir_access *a, const check_object *o,
                          const uint8_t *undef) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < a->size; k++) n += undef[k];
    if (n == 0 || (n < a->size && !l->setup->options.strict_undefined)) return;
    check_finding f = finding_of(l, CHECK_UNDEFINED, a, o);
    check_find(l, &f, "%s stored to %s",
               n == a->size ? "undefined value" : "partly undefined value",
               check_place(l, o, a->address).text);
}

static void note_watched(check_state *l, const ir_access *a, const check_object *o) {
    const check_options *w = &l->setup->options;
    uint64_t offset = a->address - o->base;
    if (!w->watch || o->store != &w->watch->store) return;
    if (offset >= w->watch_offset + w->watch_size || w->watch_offset >= offset + a->size) return;
    l->findings.last_write = check_current(l, a->at);
}

bool check_write(void *user, const ir_access *a, const uint8_t *bytes, const uint8_t *undef) {
    check_state *l = user;
    check_object *o = locate(l, a);
    if (!o) return false;
    uint8_t *to = o->store->bytes + (a->address - o->base);
    if (o->space == IR_GLOBAL && uses_value(a)) check_defined(l, a, o, undef);
    count_access(l, a, o);
    note_watched(l, a, o);
    if (check_is_shared(o)) {
        check_async_access(l, o, a);
        check_race_write(l, o, a, memcmp(to, bytes, a->size) == 0);
    }
    if (memchr(undef, 1, a->size)) check_note_undefined_write(l, a);
    memcpy(to, bytes, a->size);
    memcpy(o->store->undef + (a->address - o->base), undef, a->size);
    return true;
}

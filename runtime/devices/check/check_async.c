/* check_async.c — async copies between global and local memory, and waiting for them.
 *
 * The bytes move when the group starts the copy, on behalf of the group as a whole.  Until the
 * group waits for the event, the copy is in flight: a write of what it reads, or an access of what
 * it writes, races with it.  A copy that is still in flight when the group ends is reported.
 */
#include "runtime/devices/check/check_impl.h"

enum { TO, FROM, ELEMENTS, STRIDE, EVENT, ELEMENT_SIZE, OPERANDS };

static check_finding finding_at(const check_state *l, check_kind kind, const ir_inst *at) {
    return (check_finding){.kind = kind, .severity = IR_ERROR, .here = check_current(l, at)};
}

/* --------------------------------------------------------------------------- accesses meanwhile */

/* Do the pieces share a byte with [at, end)?  Pieces do not overlap each other. */
static bool covers(const check_pieces *p, const check_object *o, uint64_t at, uint64_t end) {
    if (p->object != o || p->count == 0 || end <= p->first || at >= end) return false;
    uint64_t last = p->step ? (end - 1 - p->first) / p->step : 0;
    if (last >= p->count) last = p->count - 1;
    return p->first + last * p->step + p->size > at;
}

void check_async_access(check_state *l, const check_object *o, const ir_access *a) {
    uint64_t at = a->address - o->base, end = at + a->size;
    bool writes = (a->kind & IR_ACCESS_WRITE) != 0;
    for (uint32_t k = 0; k < l->group.copies.n; k++) {
        const check_copy *c = &l->group.copies.data[k];
        if (!covers(&c->to, o, at, end) && !(writes && covers(&c->from, o, at, end))) continue;
        check_finding f = finding_at(l, CHECK_RACE, a->at);
        f.has_other = true;
        f.other = check_who_of(l, c->slice, c->at);
        f.object = o;
        f.address = a->address;
        f.size = a->size;
        check_find(l, &f, "data race at %s: %s while an async copy is in flight",
                   check_place(l, o, a->address).text, writes ? "write" : "read");
        return;
    }
}

/* --------------------------------------------------------------------------------------- copies */

/* Operand n of the first member; reports when it is undefined or the others disagree. */
static uint64_t agreed(check_state *l, check_item *const *member, uint32_t n, unsigned operand) {
    ir_value first, other;
    const ir_inst *at = ir_interp_at(member[0]->run);
    ir_interp_operand(member[0]->run, operand, &first);
    l->item = member[0];
    if (first.undef[0]) {
        check_finding f = finding_at(l, CHECK_UNDEFINED, at);
        f.detail = operand;
        check_find(l, &f, "operand %u of %s is undefined", operand, ir_info(at)->name);
    }
    for (uint32_t k = 1; k < n; k++) {
        ir_interp_operand(member[k]->run, operand, &other);
        if (other.bits[0] == first.bits[0]) continue;
        check_finding f = finding_at(l, CHECK_GROUP_OPERAND, at);
        f.detail = operand;
        f.has_other = true;
        f.other = (check_who){at, l->group.index, member[k]->index};
        check_find(l, &f, "work-items give different operands %u to %s", operand,
                   ir_info(at)->name);
        break;
    }
    l->item = NULL;
    return first.bits[0];
}

static bool copy_piece(check_state *l, ir_access *to, ir_access *from, uint64_t size) {
    uint8_t bytes[64], undef[64];
    for (uint64_t done = 0; done < size; done += to->size) {
        to->size = from->size = size - done < sizeof bytes ? (uint32_t)(size - done) : sizeof bytes;
        if (!check_read(l, from, bytes, undef) || !check_write(l, to, bytes, undef)) return false;
        to->address += to->size;
        from->address += from->size;
    }
    return true;
}

static check_pieces pieces_at(const check_state *l, uint64_t address, uint64_t step, uint64_t size,
                              uint64_t count) {
    const check_object *o = check_object_at(l, address);
    return (check_pieces){o, o ? address - o->base : 0, step, size, count};
}

/* The stride is that of the side in global memory; false: some piece could not be moved. */
static bool move(check_state *l, const ir_inst *at, uint32_t site, const uint64_t operand[],
                 check_copy *c) {
    uint64_t size = operand[ELEMENT_SIZE], stride = operand[STRIDE] * size;
    if (size == 0) return false;
    bool to_local = ir_space_of(ir_arg(at, TO)->type) == IR_LOCAL;
    c->to = pieces_at(l, operand[TO], to_local ? size : stride, size, operand[ELEMENTS]);
    c->from = pieces_at(l, operand[FROM], to_local ? stride : size, size, operand[ELEMENTS]);
    ir_access to = {.at = at, .site = site, .align = 1, .kind = IR_ACCESS_WRITE};
    ir_access from = {.at = at, .site = site, .align = 1, .kind = IR_ACCESS_READ};
    to.space = ir_space_of(ir_arg(at, TO)->type);
    from.space = ir_space_of(ir_arg(at, FROM)->type);
    for (uint64_t k = 0; k < operand[ELEMENTS]; k++) {
        to.address = operand[TO] + k * c->to.step;
        from.address = operand[FROM] + k * c->from.step;
        if (!copy_piece(l, &to, &from, size)) return false;
    }
    return true;
}

void check_async_copy(check_state *l, check_item *const *member, uint32_t n) {
    const ir_inst *at = ir_interp_at(member[0]->run);
    uint64_t operand[OPERANDS];
    for (unsigned k = 0; k < OPERANDS; k++) operand[k] = agreed(l, member, n, k);
    l->clock.slice = l->group.round_slice + l->group.nitems;
    check_copy c = {.at = at, .slice = l->clock.slice};
    c.event = operand[EVENT] ? operand[EVENT] : ++l->group.last_event;
    if (move(l, at, ir_interp_site_at(member[0]->run), operand, &c))
        *ir_push(l->arena, &l->group.copies) = c;
    for (uint32_t k = 0; k < n; k++) {
        l->scratch.results[member[k]->index].bits[0] = c.event;
        l->scratch.results[member[k]->index].undef[0] = 0;
    }
}

/* -------------------------------------------------------------------------------------- waiting */

static void complete(check_state *l, uint64_t event) {
    uint32_t kept = 0;
    for (uint32_t k = 0; k < l->group.copies.n; k++)
        if (l->group.copies.data[k].event != event)
            l->group.copies.data[kept++] = l->group.copies.data[k];
    l->group.copies.n = kept;
}

static void wait_for(check_state *l, const ir_inst *at, uint64_t event, bool undef) {
    if (!undef && event >= 1 && event <= l->group.last_event) {
        complete(l, event);
        return;
    }
    check_finding f = finding_at(l, CHECK_ASYNC, at);
    check_find(l, &f, "waits for something that is not an event");
}

/* Each work-item has its own list of events; what one of them waits for is complete. */
static void wait_of(check_state *l, check_item *item) {
    const ir_inst *at = ir_interp_at(item->run);
    ir_value count, list;
    ir_interp_operand(item->run, 0, &count);
    ir_interp_operand(item->run, 1, &list);
    l->item = item;
    ir_access a = {.at = at,
                   .site = ir_interp_site_at(item->run),
                   .address = list.bits[0],
                   .size = l->setup->kernel->module->pointer_bits / 8,
                   .space = ir_space_of(ir_arg(at, 1)->type),
                   .kind = IR_ACCESS_READ};
    for (a.align = a.size; count.bits[0]; count.bits[0]--, a.address += a.size) {
        uint8_t bytes[8], undef[8];
        uint64_t event = 0;
        bool undefined = false;
        if (!check_read(l, &a, bytes, undef)) break;
        for (unsigned k = 0; k < a.size; k++) {
            event |= (uint64_t)bytes[k] << 8 * k;
            undefined |= undef[k];
        }
        wait_for(l, at, event, undefined);
    }
    l->item = NULL;
}

void check_wait_events(check_state *l, check_item *const *member, uint32_t n) {
    agreed(l, member, n, 0);
    for (uint32_t k = 0; k < n; k++) wait_of(l, member[k]);
}

void check_async_end(check_state *l) {
    l->item = NULL;
    for (uint32_t k = 0; k < l->group.copies.n; k++) {
        check_finding f = finding_at(l, CHECK_ASYNC, l->group.copies.data[k].at);
        check_find(l, &f, "no work-item waits for this async copy");
    }
    l->group.copies.n = 0;
}

/* cpu_print.c — printf of kernels: text is collected while groups run, and delivered by the thread
 * that launched.
 *
 * Arguments come without types (ir/launch.h): integers are as wide as their conversion says, floats
 * are doubles unless they are lanes; those have the width of the length, 32 bits without one.
 */
#include "ir/eval.h"
#include "runtime/devices/cpu/cpu.h"
#include "runtime/devices/printf.h"

typedef struct {
    const uint8_t *at, *end;
} arguments;

static unsigned lane_bits(const rt_conversion *c) {
    if (c->conversion == 's' || c->conversion == 'p') return 64;
    if (rt_is_float_conversion(c)) return c->lanes == 1 ? 64 : c->bits;
    return c->conversion == 'c' ? 8 : c->bits;
}

static uint64_t read_lane(const rt_conversion *c, const uint8_t *from, unsigned bits) {
    uint64_t v = 0;
    memcpy(&v, from, bits / 8);
    if (!rt_is_float_conversion(c) || bits == 64) return v;
    double d = ir_fp_to_double(bits == 16 ? IR_F16 : IR_F32, v);
    memcpy(&v, &d, sizeof v);
    return v;
}

static bool take_argument(void *user, const rt_conversion *c, rt_print_value *out) {
    arguments *a = user;
    unsigned bits = lane_bits(c);
    uint64_t size = (c->lanes * bits / 8 + 7) / 8 * 8;
    if (size > (uint64_t)(a->end - a->at)) return false;
    for (unsigned n = 0; n < c->lanes; n++) out->lane[n] = read_lane(c, a->at + n * bits / 8, bits);
    out->width = bits;
    a->at += size;
    return true;
}

static char read_char(void *user, uint64_t address) {
    (void)user;
    return address < 4096 ? 0 : *(const char *)(uintptr_t)address;
}

typedef struct {
    cpu_output *output;
    const char *format;
    arguments arguments;
    bool ok;
} job;

static void append(void *arg) {
    job *j = arg;
    cpu_output *o = j->output;
    rt_print_source source = {take_argument, read_char, &j->arguments};
    j->ok = rt_print(&o->text, &o->string, j->format, &source);
}

/* Called by any thread that runs groups: the context is touched under the lock only, by one. */
int32_t cpu_print(void *user, const char *format, const void *list, uint64_t bytes) {
    cpu_output *o = user;
    const uint8_t *at = list;
    const uint8_t *end = bytes ? at + bytes : at; /* no arguments: at is NULL */
    job j = {.output = o, .format = format, .arguments = {at, end}};
    pthread_mutex_lock(&o->lock);
    bool room = ir_try(o->arena.cx, append, &j);
    pthread_mutex_unlock(&o->lock);
    return room && j.ok ? 0 : -1;
}

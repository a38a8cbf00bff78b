/* check_printf.c — OpenCL's printf: C's conversions without %n and *, and vectors.
 *
 *   % flags width .precision vN length conversion        "%#v4hhx" of a uchar4: 0xfa,0xfb,0xfc,0xfd
 *
 * Lengths hh, h, hl and l say the width of an integer: 8, 16, 32 (also none) and 64 bits; floats
 * are printed by value, whatever their width.  A conversion that is malformed or lacks its argument
 * ends the output, and the kernel gets -1.  The text does not depend on the locale.
 */
#include "ir/eval.h"
#include "runtime/devices/check_impl.h"

#include <locale.h>

enum { MAX_FIELD = 500, MAX_STRING = 1 << 16 };

typedef struct {
    char flags[8];
    unsigned width, precision;
    bool has_precision;
    unsigned lanes; /* of vN; 1: none */
    unsigned bits;  /* of an integer */
    char conversion;
} spec;

typedef struct {
    check_state *l;
    const ir_interp *run;
    const ir_inst *at;
    unsigned next; /* operand */
    ir_text *out;
} printer;

/* -------------------------------------------------------------------------------------- parsing */

static const char *parse_number(const char *s, unsigned *value) {
    for (*value = 0; *s >= '0' && *s <= '9'; s++)
        if (*value <= MAX_FIELD) *value = *value * 10 + (unsigned)(*s - '0');
    return s;
}

static const char *parse_flags(const char *s, spec *p) {
    for (unsigned n = 0; *s && strchr("-+ #0", *s); s++)
        if (n < sizeof p->flags - 1 && !strchr(p->flags, *s)) p->flags[n++] = *s;
    return s;
}

static const char *parse_length(const char *s, spec *p) {
    p->bits = 32;
    if (s[0] == 'h') {
        p->bits = s[1] == 'h' ? 8 : s[1] == 'l' ? 32 : 16;
        return s + (p->bits == 16 ? 1 : 2);
    }
    if (s[0] != 'l') return s;
    p->bits = 64;
    return s + (s[1] == 'l' ? 2 : 1);
}

/* Reads a conversion behind its '%'; NULL: malformed. */
static const char *parse_spec(const char *s, spec *p) {
    *p = (spec){.lanes = 1};
    s = parse_flags(s, p);
    s = parse_number(s, &p->width);
    p->has_precision = *s == '.';
    if (p->has_precision) s = parse_number(s + 1, &p->precision);
    if (*s == 'v') s = parse_number(s + 1, &p->lanes);
    s = parse_length(s, p);
    p->conversion = *s;
    bool fits = p->width <= MAX_FIELD && p->precision <= MAX_FIELD && p->lanes >= 1;
    return fits && *s && strchr("diouxXfFeEgGaAcsp", *s) ? s + 1 : NULL;
}

/* ------------------------------------------------------------------------------------ one value */

/* The conversion as C spells it, with a length and a conversion of ours. */
static void spell(const spec *p, const char *length, char conversion, char out[40]) {
    char precision[12] = "", width[12] = "";
    if (p->width) snprintf(width, sizeof width, "%u", p->width);
    if (p->has_precision) snprintf(precision, sizeof precision, ".%u", p->precision);
    snprintf(out, 40, "%%%s%s%s%s%c", p->flags, width, precision, length, conversion);
}

static void put_integer(printer *p, const spec *s, uint64_t bits, unsigned width) {
    char format[40], text[MAX_FIELD * 2 + 64];
    unsigned used = s->bits < width ? s->bits : width;
    spell(s, "ll", s->conversion, format);
    if (s->conversion == 'd' || s->conversion == 'i')
        snprintf(text, sizeof text, format, (long long)ir_sext(bits, used));
    else
        snprintf(text, sizeof text, format, (unsigned long long)ir_zext(bits, used));
    ir_put(p->out, text);
}

static void put_float(printer *p, const spec *s, double value) {
    char format[40], text[MAX_FIELD * 2 + 400];
    const char *point = localeconv()->decimal_point;
    spell(s, "", s->conversion, format);
    snprintf(text, sizeof text, format, value);
    char *at = strcmp(point, ".") != 0 ? strstr(text, point) : NULL;
    if (!at) {
        ir_put(p->out, text);
        return;
    }
    ir_putn(p->out, text, (size_t)(at - text));
    ir_put(p->out, ".");
    ir_put(p->out, at + strlen(point));
}

static void put_char(printer *p, const spec *s, uint64_t bits) {
    char format[40], text[MAX_FIELD + 64], c = (char)(bits & 0xff);
    spell(s, "", 'c', format);
    int n = snprintf(text, sizeof text, format, c);
    ir_putn(p->out, text, n > 0 ? (size_t)n : 0);
}

/* One byte of a string; 0 ends it, also where it cannot be read. */
static char read_char(printer *p, uint64_t address, ir_space space) {
    uint8_t byte = 0, undef = 0;
    ir_access a = {.at = p->at,
                   .address = address,
                   .site = ir_interp_site_at(p->run),
                   .size = 1,
                   .align = 1,
                   .space = space,
                   .kind = IR_ACCESS_READ};
    return check_read(p->l, &a, &byte, &undef) ? (char)byte : 0;
}

static void put_string(printer *p, const spec *s, uint64_t address, ir_space space) {
    ir_text *string = &p->l->string;
    string->arena = &p->l->arena;
    string->n = 0;
    size_t limit = s->has_precision ? s->precision : MAX_STRING;
    while (string->n < limit) {
        char c = read_char(p, address + string->n, space);
        if (!c) break;
        ir_putn(string, &c, 1);
    }
    size_t pad = s->width > string->n ? s->width - string->n : 0;
    bool left = strchr(s->flags, '-') != NULL;
    for (size_t k = 0; !left && k < pad; k++) ir_put(p->out, " ");
    ir_putn(p->out, string->data, string->n);
    for (size_t k = 0; left && k < pad; k++) ir_put(p->out, " ");
}

static void put_pointer(printer *p, const spec *s, uint64_t bits) {
    char format[40], digits[24], text[MAX_FIELD + 64];
    spec plain = {.width = s->width};
    if (strchr(s->flags, '-')) plain.flags[0] = '-';
    snprintf(digits, sizeof digits, "0x%llx", (unsigned long long)bits);
    spell(&plain, "", 's', format);
    snprintf(text, sizeof text, format, digits);
    ir_put(p->out, text);
}

/* ------------------------------------------------------------------------------------ arguments */

static bool is_float_conversion(char c) { return strchr("fFeEgGaA", c) != NULL; }

static bool fits_type(const spec *s, ir_type t) {
    if (s->lanes != ir_lanes(t)) return false;
    if (is_float_conversion(s->conversion)) return ir_is_float(ir_elem(t));
    if (s->conversion == 's') return ir_is_ptr(t);
    if (s->conversion == 'p') return ir_is_ptr(t) || ir_is_int(t);
    return ir_is_int(ir_elem(t));
}

static void put_lane(printer *p, const spec *s, ir_type t, uint64_t bits) {
    ir_type elem = ir_elem(t);
    if (is_float_conversion(s->conversion))
        put_float(p, s, ir_fp_to_double(ir_kind_of(elem), bits));
    else if (s->conversion == 's')
        put_string(p, s, bits, ir_space_of(t));
    else if (s->conversion == 'p')
        put_pointer(p, s, bits);
    else if (s->conversion == 'c')
        put_char(p, s, bits);
    else
        put_integer(p, s, bits, ir_bits(p->l->kernel->module, elem));
}

static bool put_argument(printer *p, const spec *s) {
    unsigned n = p->next++;
    ir_value v;
    if (n >= p->at->nargs || !fits_type(s, ir_arg(p->at, n)->type)) return false;
    ir_interp_operand(p->run, n, &v);
    bool undef = false;
    for (unsigned lane = 0; lane < s->lanes; lane++) {
        if (lane) ir_put(p->out, ",");
        put_lane(p, s, ir_arg(p->at, n)->type, v.bits[lane]);
        undef |= v.undef[lane] != 0;
    }
    if (undef) p->l->host.problem(p->l, IR_PROBLEM_UNDEFINED, p->at, n);
    return true;
}

static bool put_all(printer *p, const char *format) {
    while (*format) {
        const char *percent = strchr(format, '%');
        spec s;
        if (!percent) {
            ir_put(p->out, format);
            return true;
        }
        ir_putn(p->out, format, (size_t)(percent - format));
        format = percent + 1;
        if (*format == '%') {
            ir_put(p->out, "%");
            format++;
            continue;
        }
        format = parse_spec(format, &s);
        if (!format || !put_argument(p, &s)) return false;
    }
    return true;
}

int32_t check_print(void *user, const ir_interp *w, const ir_inst *i) {
    check_state *l = user;
    printer p = {.l = l, .run = w, .at = i, .out = &l->printed};
    p.out->arena = &l->arena;
    p.out->n = 0;
    bool ok = put_all(&p, i->imm.string);
    if (l->options.print && p.out->n) l->options.print(l->options.user, p.out->data, p.out->n);
    return ok ? 0 : -1;
}

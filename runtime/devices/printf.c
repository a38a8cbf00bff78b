/* printf.c — OpenCL's printf: C's conversions without %n and *, and vectors.
 *
 *   % flags width .precision vN length conversion        "%#v4hhx" of a uchar4: 0xfa,0xfb,0xfc,0xfd
 *
 * Lengths hh, h, hl and l say the width of an integer: 8, 16, 32 (also none) and 64 bits; floats
 * are printed by value, whatever their width.  The text does not depend on the locale.
 */
#include "runtime/devices/printf.h"

#include "ir/eval.h"

#include <locale.h>

enum { MAX_FIELD = 500, MAX_STRING = 1 << 16 };

typedef struct {
    const rt_print_source *source;
    ir_text *out, *string;
} printer;

/* -------------------------------------------------------------------------------------- parsing */

static const char *parse_number(const char *s, unsigned *value) {
    for (*value = 0; *s >= '0' && *s <= '9'; s++)
        if (*value <= MAX_FIELD) *value = *value * 10 + (unsigned)(*s - '0');
    return s;
}

static const char *parse_flags(const char *s, rt_conversion *p) {
    for (unsigned n = 0; *s && strchr("-+ #0", *s); s++)
        if (n < sizeof p->flags - 1 && !strchr(p->flags, *s)) p->flags[n++] = *s;
    return s;
}

static const char *parse_length(const char *s, rt_conversion *p) {
    p->bits = 32;
    if (s[0] == 'h') {
        p->bits = s[1] == 'h' ? 8 : s[1] == 'l' ? 32 : 16;
        return s + (p->bits == 16 ? 1 : 2);
    }
    if (s[0] != 'l') return s;
    p->bits = 64;
    return s + (s[1] == 'l' ? 2 : 1);
}

/* Reads a conversion after its '%'; NULL: malformed. */
static const char *parse_spec(const char *s, rt_conversion *p) {
    *p = (rt_conversion){.lanes = 1};
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
static void spell(const rt_conversion *p, const char *length, char conversion, char out[40]) {
    char precision[12] = "", width[12] = "";
    if (p->width) snprintf(width, sizeof width, "%u", p->width);
    if (p->has_precision) snprintf(precision, sizeof precision, ".%u", p->precision);
    snprintf(out, 40, "%%%s%s%s%s%c", p->flags, width, precision, length, conversion);
}

static void put_integer(printer *p, const rt_conversion *s, uint64_t bits, unsigned width) {
    char format[40], text[MAX_FIELD * 2 + 64];
    unsigned used = s->bits < width ? s->bits : width;
    spell(s, "ll", s->conversion, format);
    if (s->conversion == 'd' || s->conversion == 'i')
        snprintf(text, sizeof text, format, (long long)ir_sext(bits, used));
    else
        snprintf(text, sizeof text, format, (unsigned long long)ir_zext(bits, used));
    ir_put(p->out, text);
}

static void put_float(printer *p, const rt_conversion *s, double value) {
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

static void put_char(printer *p, const rt_conversion *s, uint64_t bits) {
    char format[40], text[MAX_FIELD + 64], c = (char)(bits & 0xff);
    spell(s, "", 'c', format);
    int n = snprintf(text, sizeof text, format, c);
    ir_putn(p->out, text, n > 0 ? (size_t)n : 0);
}

static void put_string(printer *p, const rt_conversion *s, uint64_t address) {
    ir_text *string = p->string;
    string->n = 0;
    size_t limit = s->has_precision ? s->precision : MAX_STRING;
    while (string->n < limit) {
        char c = p->source->read(p->source->user, address + string->n);
        if (!c) break;
        ir_putn(string, &c, 1);
    }
    size_t pad = s->width > string->n ? s->width - string->n : 0;
    bool left = strchr(s->flags, '-') != NULL;
    for (size_t k = 0; !left && k < pad; k++) ir_put(p->out, " ");
    ir_putn(p->out, string->data, string->n);
    for (size_t k = 0; left && k < pad; k++) ir_put(p->out, " ");
}

static void put_pointer(printer *p, const rt_conversion *s, uint64_t bits) {
    char format[40], digits[24], text[MAX_FIELD + 64];
    rt_conversion plain = {.width = s->width};
    if (strchr(s->flags, '-')) plain.flags[0] = '-';
    snprintf(digits, sizeof digits, "0x%llx", (unsigned long long)bits);
    spell(&plain, "", 's', format);
    snprintf(text, sizeof text, format, digits);
    ir_put(p->out, text);
}

/* ------------------------------------------------------------------------------------ arguments */

bool rt_is_float_conversion(const rt_conversion *c) {
    return strchr("fFeEgGaA", c->conversion) != NULL;
}

static double to_double(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static void put_lane(printer *p, const rt_conversion *s, uint64_t bits, unsigned width) {
    if (rt_is_float_conversion(s))
        put_float(p, s, to_double(bits));
    else if (s->conversion == 's')
        put_string(p, s, bits);
    else if (s->conversion == 'p')
        put_pointer(p, s, bits);
    else if (s->conversion == 'c')
        put_char(p, s, bits);
    else
        put_integer(p, s, bits, width);
}

static bool put_argument(printer *p, const rt_conversion *s) {
    rt_print_value v;
    if (s->lanes > IR_MAX_LANES || !p->source->take(p->source->user, s, &v)) return false;
    for (unsigned lane = 0; lane < s->lanes; lane++) {
        if (lane) ir_put(p->out, ",");
        put_lane(p, s, v.lane[lane], v.width);
    }
    return true;
}

bool rt_print(ir_text *out, ir_text *string, const char *format, const rt_print_source *source) {
    printer p = {source, out, string};
    while (*format) {
        const char *percent = strchr(format, '%');
        rt_conversion s;
        if (!percent) {
            ir_put(out, format);
            return true;
        }
        ir_putn(out, format, (size_t)(percent - format));
        format = percent + 1;
        if (*format == '%') {
            ir_put(out, "%");
            format++;
            continue;
        }
        format = parse_spec(format, &s);
        if (!format || !put_argument(&p, &s)) return false;
    }
    return true;
}

bool rt_string_limit(const char *format, uint32_t n, uint64_t *limit) {
    while ((format = strchr(format, '%'))) {
        rt_conversion s;
        bool is_percent = format[1] == '%';
        format = is_percent ? format + 2 : parse_spec(format + 1, &s);
        if (!format) return false;
        if (is_percent || n-- > 0) continue;
        *limit = s.has_precision ? s.precision : MAX_STRING;
        return s.conversion == 's' && s.lanes == 1;
    }
    return false;
}

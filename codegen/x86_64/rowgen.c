/* rowgen.c — host tool: turns the columns of encodings.def into the tables of encode.h.
 *
 *   x86rows build/codegen/x86_64/forms.inc
 *
 * The columns are text that a reader compares with the manual; here each is read once, when the
 * compiler is built.  encodings.def has the grammar.  What cannot be read, or contradicts itself
 * (operands and places that differ in number, an immediate that the opcode does not have), is an
 * error that names the row.
 */
#include "codegen/x86_64/encode.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const char *name, *mnemonic, *operands, *opcode, *places;
    x86_level level;
    const char *implicit;
} row_text;

#define V1 X86_V1
#define V2 X86_V2
#define V3 X86_V3
#define V4 X86_V4
#define ICELAKE X86_ICELAKE
static const row_text rows[X86_ROWS] = {
#define X86(name, mnemonic, operands, opcode, places, level, implicit)                             \
    {#name, mnemonic, operands, opcode, places, level, implicit},
#include "codegen/x86_64/encodings.def"
#undef X86
};

/* What is made of a row. */
typedef struct {
    const row_text *text;
    x86_form form;
    x86_shape shape;
    char plain[80];     /* operands without masks, broadcast and rounding */
    unsigned imm_bytes; /* of the operands, less those of the opcode */
    bool reads_modrm;
} row;

static void fail(const row *r, const char *what) {
    fprintf(stderr, "encodings.def: X86(%s): %s\n", r->text->name, what);
    exit(1);
}

/* The next word of *s up to one of `ends`, without spaces before it; false at the end. */
static bool next_word(const char **s, const char *ends, char *word, size_t size) {
    while (**s == ' ') ++*s;
    size_t n = strcspn(*s, ends);
    if (!n) return false;
    if (n >= size) n = size - 1;
    memcpy(word, *s, n);
    word[n] = 0;
    *s += n;
    if (**s) ++*s;
    return true;
}

static bool is(const char *a, const char *b) { return strcmp(a, b) == 0; }
static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

/* ------------------------------------------------------------------------------------- operands */

static const struct {
    const char *name;
    x86_kind kind;
    unsigned number; /* of the register, or the immediate */
} fixed_operands[] = {{"al", X86_R8, 0},   {"cl", X86_R8, 1},   {"ax", X86_R16, 0},
                      {"eax", X86_R32, 0}, {"rax", X86_R64, 0}, {"xmm0", X86_XMM, 0},
                      {"1", X86_IMM, 1}};

static bool read_fixed(x86_slot *s, const char *word) {
    for (size_t i = 0; i < sizeof fixed_operands / sizeof *fixed_operands; i++) {
        if (!is(word, fixed_operands[i].name)) continue;
        s->kind = (uint8_t)fixed_operands[i].kind;
        s->fixed = (uint8_t)fixed_operands[i].number;
        return true;
    }
    return false;
}

static x86_kind vector_kind(char letter) {
    return letter == 'x' ? X86_XMM : letter == 'y' ? X86_YMM : letter == 'z' ? X86_ZMM : X86_NONE;
}

static x86_kind general_kind(int bits) {
    return bits == 8    ? X86_R8
           : bits == 16 ? X86_R16
           : bits == 32 ? X86_R32
           : bits == 64 ? X86_R64
                        : X86_NONE;
}

/* m, m64, m32bcst, vm32y */
static bool read_memory(row *r, x86_slot *s, const char *word) {
    int bits = 0;
    char rest[8] = "";
    if (is(word, "m")) {
        s->bytes = X86_ADDRESS;
    } else if (sscanf(word, "vm%d%7s", &bits, rest) == 2) {
        s->bytes = (uint8_t)(r->form.w ? 8 : 4);
        s->index = (uint8_t)vector_kind(*rest);
        r->form.flags |= X86_MASK_NEEDED;
    } else if (sscanf(word, "m%d%7s", &bits, rest) >= 1) {
        bool element = is(rest, "bcst");
        if (*rest && !element) return false;
        *(element ? &r->form.broadcast : &s->bytes) = (uint8_t)(bits / 8);
    } else {
        return false;
    }
    return true;
}

/* One of the things that a slash separates: r, r32, xmm2, k1, or memory. */
static bool read_choice(row *r, x86_slot *s, const char *word) {
    int bits = 0;
    if (is(word, "r")) return true; /* of r/m32: the size follows */
    if (*word == 'm' || *word == 'v') return read_memory(r, s, word);
    if (sscanf(word, "r%d", &bits) == 1)
        s->kind = (uint8_t)general_kind(bits);
    else if (starts(word + 1, "mm"))
        s->kind = (uint8_t)vector_kind(*word);
    else if (*word == 'k')
        s->kind = X86_K;
    return s->kind != X86_NONE;
}

static bool read_choices(row *r, x86_slot *s, const char *word) {
    int bits = 0;
    if (sscanf(word, "imm%d", &bits) == 1 || sscanf(word, "rel%d", &bits) == 1) {
        s->kind = *word == 'i' ? X86_IMM : X86_LABEL;
        s->bytes = (uint8_t)(bits / 8);
        return true;
    }
    if (starts(word, "r/m")) s->kind = (uint8_t)general_kind(atoi(word + 3));
    char choice[16];
    for (const char *at = word; next_word(&at, "/", choice, sizeof choice);)
        if (!read_choice(r, s, choice)) return false;
    return true;
}

/* Takes {k1}, {z}, {er} and {sae} off the end of the word. */
static void read_braces(row *r, char *word) {
    char *brace = strchr(word, '{');
    if (!brace) return;
    if (strstr(brace, "{k")) r->form.flags |= X86_MASKED;
    if (strstr(brace, "{z}")) r->form.flags |= X86_ZEROED;
    if (strstr(brace, "{er}")) r->form.rounding = X86_ROUNDS_ER;
    if (strstr(brace, "{sae}")) r->form.rounding = X86_ROUNDS_SAE;
    while (brace > word && brace[-1] == ' ') brace--;
    *brace = 0;
}

static x86_place place_of(const row *r, char letter) {
    static const char letters[] = "ARMVOISD4";
    const char *at = strchr(letters, letter);
    if (!letter || !at) fail(r, "unknown place");
    return (x86_place)(at - letters);
}

static unsigned role_of(const row *r, char letter) {
    if (!letter || !strchr("arwx", letter)) fail(r, "unknown role");
    return letter == 'r'   ? X86_READ
           : letter == 'w' ? X86_WRITE
           : letter == 'x' ? X86_READ | X86_WRITE
                           : 0;
}

static void note_plain(row *r, const char *word) {
    size_t n = strlen(r->plain);
    const char *end = strstr(word, "bcst") ? strrchr(word, '/') : word + strlen(word);
    snprintf(r->plain + n, sizeof r->plain - n, "%.*s,", (int)(end - word), word);
}

static void read_operand(row *r, char *word, const char *place) {
    if (r->shape.nargs == X86_MAX_ARGS) fail(r, "too many operands");
    x86_slot *s = &r->shape.slot[r->shape.nargs++];
    read_braces(r, word);
    note_plain(r, word);
    s->place = (uint8_t)place_of(r, place[0]);
    s->role = (uint8_t)role_of(r, place[1]);
    if (s->place == X86_IN_NOTHING ? !read_fixed(s, word) : !read_choices(r, s, word))
        fail(r, "unknown operand");
    if (s->kind != X86_IMM && s->kind != X86_LABEL && s->bytes && !s->index) s->index = X86_R64;
    if (s->kind == X86_IMM || s->kind == X86_LABEL) r->imm_bytes += s->bytes;
    if (s->place == X86_IN_IS4) r->imm_bytes++;
}

static void read_operands(row *r) {
    const char *operands = r->text->operands, *places = r->text->places;
    char word[48], place[4];
    while (next_word(&operands, ",", word, sizeof word)) {
        if (!next_word(&places, " ", place, sizeof place)) fail(r, "an operand without place");
        read_operand(r, word, place);
    }
    if (*places) fail(r, "more places than operands");
}

/* --------------------------------------------------------------------------------------- opcode */

static const char *const prefixes[] = {"", "66", "F3", "F2"};
static const char *const maps[] = {"", "0F", "0F38", "0F3A"};

static bool find(const char *const *words, unsigned n, const char *word, uint8_t *out) {
    unsigned i = 1;
    while (i < n && !is(words[i], word)) i++;
    if (i < n) *out = (uint8_t)i;
    return i < n;
}

/* VEX.256.66.0F38.W0 */
static void read_vector_prefix(row *r, const char *word) {
    static const struct {
        const char *word;
        int l, w;
    } fields[] = {{"128", 0, -1},  {"256", 1, -1}, {"512", 2, -1}, {"LIG", 0, -1},
                  {"LLIG", 0, -1}, {"LZ", 0, -1},  {"L0", 0, -1},  {"L1", 1, -1},
                  {"W0", -1, 0},   {"W1", -1, 1},  {"WIG", -1, 0}};
    char field[8];
    r->form.encoding = *word == 'E' ? X86_EVEX : X86_VEX;
    next_word(&word, ".", field, sizeof field);
    while (next_word(&word, ".", field, sizeof field)) {
        if (find(prefixes, 4, field, &r->form.prefix) || find(maps, 4, field, &r->form.map))
            continue;
        size_t i = 0, n = sizeof fields / sizeof *fields;
        while (i < n && !is(fields[i].word, field)) i++;
        if (i == n) fail(r, "unknown field of the prefix");
        if (is(field, "LIG") || is(field, "LLIG")) r->form.flags |= X86_ONE_LANE;
        if (fields[i].l >= 0) r->form.l = (uint8_t)fields[i].l;
        if (fields[i].w >= 0) r->form.w = (uint8_t)fields[i].w;
    }
}

/* /r, /0 to /7 */
static bool read_modrm_word(row *r, const char *word) {
    bool digit = word[0] == '/' && word[1] >= '0' && word[1] <= '7' && !word[2];
    if (digit) {
        r->form.flags |= X86_DIGIT;
        r->form.modrm = (uint8_t)(word[1] - '0');
    }
    r->reads_modrm |= digit || is(word, "/r");
    return digit || is(word, "/r");
}

static bool read_imm_word(row *r, const char *word) {
    static const struct {
        const char *word;
        unsigned bytes;
    } words[] = {{"ib", 1}, {"iw", 2}, {"id", 4}, {"io", 8}, {"cb", 1}, {"cd", 4}, {"/is4", 1}};
    size_t i = 0, n = sizeof words / sizeof *words;
    while (i < n && !is(words[i].word, word)) i++;
    if (i < n) r->imm_bytes -= words[i].bytes;
    return i < n;
}

/* Words that are not bytes of the opcode. */
static bool read_opcode_word(row *r, const char *word) {
    x86_form *f = &r->form;
    if (starts(word, "VEX.") || starts(word, "EVEX."))
        read_vector_prefix(r, word);
    else if (is(word, "[F0]"))
        f->flags |= X86_LOCKED;
    else if (is(word, "REX.W"))
        f->w = 1;
    else if (*word == 'N')
        f->unit = (uint8_t)atoi(word + 1);
    else
        return read_modrm_word(r, word) || read_imm_word(r, word);
    return true;
}

/* Prefixes (of legacy opcodes), then 0F, 0F 38 or 0F 3A, the opcode, and ModRM if it is fixed. */
static void read_opcode_bytes(row *r, const uint8_t *bytes, unsigned n) {
    x86_form *f = &r->form;
    unsigned i = 0;
    for (; i + 1 < n && (bytes[i] == 0x66 || bytes[i] == 0xf2 || bytes[i] == 0xf3); i++) {
        if (f->prefix == 1) f->flags |= X86_SIZE16;
        f->prefix = bytes[i] == 0x66 ? 1 : bytes[i] == 0xf3 ? 2 : 3;
    }
    if (i + 1 < n && bytes[i] == 0x0f) f->map = 1, i++;
    if (f->map == 1 && i + 1 < n && (bytes[i] == 0x38 || bytes[i] == 0x3a))
        f->map = bytes[i++] == 0x38 ? 2 : 3;
    f->opcode = bytes[i++];
    if (i < n) {
        f->flags |= X86_MODRM;
        f->modrm = bytes[i++];
    }
    if (i != n) fail(r, "too many bytes in the opcode");
}

static void read_opcode(row *r) {
    const char *at = r->text->opcode;
    char word[32];
    uint8_t bytes[8];
    unsigned n = 0;
    while (next_word(&at, " ", word, sizeof word)) {
        bool byte = strspn(word, "0123456789ABCDEF") == 2 && (!word[2] || word[2] == '+');
        if (byte && n < sizeof bytes)
            bytes[n++] = (uint8_t)strtoul(word, NULL, 16);
        else if (!read_opcode_word(r, word))
            fail(r, "unknown word in the opcode");
    }
    if (!n) fail(r, "no opcode");
    read_opcode_bytes(r, bytes, n);
}

/* ------------------------------------------------------------------------------------- implicit */

static void read_implicit(row *r) {
    static const char *const names[X86_RESOURCES] = {
        "rax", "rcx", "rdx", "rbx", "rsp", "flags", "mxcsr", "stack", "memory", "vectors"};
    const char *at = r->text->implicit;
    char word[16], role[4];
    while (next_word(&at, ":", word, sizeof word) && next_word(&at, " ", role, sizeof role)) {
        unsigned i = 0;
        while (i < X86_RESOURCES && !is(names[i], word)) i++;
        if (i == X86_RESOURCES) fail(r, "unknown implicit operand");
        if (role_of(r, *role) & X86_READ) r->form.reads |= (uint16_t)(1u << i);
        if (role_of(r, *role) & X86_WRITE) r->form.writes |= (uint16_t)(1u << i);
    }
}

/* --------------------------------------------------------------------------------------- tables */

static unsigned memory_bytes(const row *r) {
    for (unsigned i = 0; i < r->shape.nargs; i++)
        if (r->shape.slot[i].index) return r->shape.slot[i].bytes;
    return 0;
}

static void check_row(row *r) {
    bool modrm = false;
    for (unsigned i = 0; i < r->shape.nargs; i++)
        modrm |= r->shape.slot[i].place == X86_IN_REG || r->shape.slot[i].place == X86_IN_RM;
    if (modrm != r->reads_modrm) fail(r, "ModRM in the opcode and in the places differ");
    if (r->imm_bytes) fail(r, "immediates in the opcode and in the operands differ");
    bool evex = r->form.encoding == X86_EVEX;
    if (!evex &&
        (r->form.flags & (X86_MASKED | X86_ZEROED) || r->form.broadcast || r->form.rounding))
        fail(r, "only EVEX has masks, broadcast and rounding");
    if (!evex) r->form.flags &= (uint8_t)~X86_MASK_NEEDED;
    if (!r->form.unit) r->form.unit = (uint8_t)(evex ? memory_bytes(r) : 1);
}

/* The bytes of what a bit of the mask is for: the end of the mnemonic says it. */
static unsigned find_lane(const row *r) {
    static const struct {
        const char *end;
        unsigned bytes;
    } ends[] = {{"pcmpd", 4}, {"ps", 4},    {"ss", 4},     {"pd", 8},   {"sd", 8},   {"ph", 2},
                {"2dq", 4},   {"2udq", 4},  {"lbw", 1},    {"hbw", 1},  {"lwd", 2},  {"hwd", 2},
                {"ckldq", 4}, {"ckhdq", 4}, {"32x2", 4},   {"32x4", 4}, {"32x8", 4}, {"64x2", 8},
                {"64x4", 8},  {"dqu8", 1},  {"dqu16", 2},  {"32", 4},   {"64", 8},   {"ldup", 4},
                {"hdup", 4},  {"ddup", 8},  {"alignr", 1}, {"b", 1},    {"w", 2},    {"d", 4},
                {"q", 8},     {"sds", 4}};
    const char *name = r->text->mnemonic;
    size_t n = strlen(name);
    if (!(r->form.flags & (X86_MASKED | X86_MASK_NEEDED))) return 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *end = ends[i].end;
        bool ints = starts(name, "vp") && is(end, "sd"); /* signed */
        if (n > strlen(end) && is(name + n - strlen(end), end) && !ints) return ends[i].bytes;
    }
    fail(r, "no end that says what a mask is for");
    return 0;
}

static void read_row(row *r) {
    r->form.level = (uint8_t)r->text->level;
    read_opcode(r);
    read_operands(r);
    read_implicit(r);
    check_row(r);
    r->form.lane = (uint8_t)find_lane(r);
}

/* Is b the same instruction as a, shorter where it can be? */
static bool is_shorter(const row *a, const row *b) {
    if (!is(a->text->mnemonic, b->text->mnemonic)) return false;
    if (a->form.encoding == X86_EVEX) return b->form.encoding == X86_VEX && is(a->plain, b->plain);
    return is(a->text->operands, "rel32") && is(b->text->operands, "rel8");
}

static void find_shorter(row *all, row *r) {
    r->form.shorter = X86_ROWS;
    for (row *b = all; b < all + X86_ROWS; b++)
        if (is_shorter(r, b)) r->form.shorter = (uint16_t)(b - all);
}

/* EVEX has other words for what takes masks, and lanes to mask by. */
static bool is_renamed(const char *vex, const char *evex) {
    static const char *const names[][2] = {{"vpand", "vpandd"},
                                           {"vpandn", "vpandnd"},
                                           {"vpor", "vpord"},
                                           {"vpxor", "vpxord"},
                                           {"vextracti128", "vextracti32x4"},
                                           {"vinserti128", "vinserti32x4"},
                                           {"vroundps", "vrndscaleps"},
                                           {"vroundpd", "vrndscalepd"},
                                           {"vroundss", "vrndscaless"},
                                           {"vroundsd", "vrndscalesd"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is(vex, names[i][0])) return is(evex, names[i][1]);
    return is(vex, evex);
}

/* Are the same registers at the same places? */
static bool has_same_registers(const x86_shape *a, const x86_shape *b) {
    bool same = a->nargs == b->nargs;
    for (unsigned i = 0; same && i < a->nargs; i++) {
        const x86_slot *x = &a->slot[i], *y = &b->slot[i];
        same = x->kind == y->kind && x->role == y->role && x->place == y->place;
    }
    return same;
}

static void find_upper(row *all, row *r) {
    r->form.upper = X86_ROWS;
    if (r->form.encoding != X86_VEX) return;
    for (row *b = all; b < all + X86_ROWS; b++)
        if (b->form.encoding == X86_EVEX && is_renamed(r->text->mnemonic, b->text->mnemonic) &&
            has_same_registers(&r->shape, &b->shape))
            r->form.upper = (uint16_t)(b - all);
}

static void share_shape(row *r, x86_shape *shapes, unsigned *n) {
    unsigned i = 0;
    while (i < *n && memcmp(&shapes[i], &r->shape, sizeof r->shape) != 0) i++;
    if (i == *n) shapes[(*n)++] = r->shape;
    r->form.shape = (uint16_t)i;
}

/* Rows of one mnemonic are together, mostly: only the one before is looked at. */
static void print_mnemonics(FILE *out, row *all) {
    unsigned n = 0;
    fputs("const char x86_mnemonics[][X86_MNEMONIC] = {", out);
    for (row *r = all; r < all + X86_ROWS; r++) {
        if (r == all || !is(r->text->mnemonic, r[-1].text->mnemonic))
            fprintf(out, "%s\"%s\",", n++ % 4 ? " " : "\n    ", r->text->mnemonic);
        if (strlen(r->text->mnemonic) >= X86_MNEMONIC) fail(r, "a long mnemonic");
        r->form.mnemonic = (uint16_t)(n - 1);
    }
    fputs("\n};\n", out);
}

static void print_shapes(FILE *out, const x86_shape *shapes, unsigned n) {
    fputs("const x86_shape x86_shapes[] = {\n", out);
    for (const x86_shape *s = shapes; s < shapes + n; s++) {
        fprintf(out, "    {%u, {", s->nargs);
        for (const x86_slot *a = s->slot; a < s->slot + X86_MAX_ARGS; a++)
            fprintf(out, "{%u, %u, %u, %u, %u, %u},", a->kind, a->bytes, a->index, a->place,
                    a->role, a->fixed);
        fputs("}},\n", out);
    }
    fputs("};\n", out);
}

static void print_form(FILE *out, const x86_form *f) {
    fprintf(out,
            "    {%u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u, %u},\n",
            f->mnemonic, f->shape, f->shorter, f->upper, f->reads, f->writes, f->encoding, f->level,
            f->map, f->prefix, f->opcode, f->modrm, f->w, f->l, f->flags, f->unit, f->broadcast,
            f->rounding, f->lane);
}

int main(int argc, char **argv) {
    FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
    row *all = calloc(X86_ROWS, sizeof *all);
    x86_shape *shapes = calloc(X86_ROWS, sizeof *shapes);
    unsigned nshapes = 0;
    if (!out || !all || !shapes) return fprintf(stderr, "usage: x86rows OUT\n"), 2;
    for (unsigned i = 0; i < X86_ROWS; i++) {
        all[i].text = &rows[i];
        read_row(&all[i]);
        share_shape(&all[i], shapes, &nshapes);
    }
    for (unsigned i = 0; i < X86_ROWS; i++) {
        find_shorter(all, &all[i]);
        find_upper(all, &all[i]);
    }
    print_mnemonics(out, all);
    print_shapes(out, shapes, nshapes);
    fputs("const x86_form x86_forms[X86_ROWS] = {\n", out);
    for (unsigned i = 0; i < X86_ROWS; i++) print_form(out, &all[i].form);
    fputs("};\n", out);
    free(all);
    free(shapes);
    return fclose(out) != 0;
}

/* encode_test.c — every row of encodings.def against objdump: the bytes that the encoder writes are
 * disassembled, and each line must be the text that print.c writes, as long as the encoder says.
 */
#include "tests/codegen/x86_64/cases.h"
#include "tests/temporary.h"

#include <criterion/criterion.h>

enum { RANDOM_CASES = 12, CHANGED_CASES = 40, LINE = 300, SHOWN = 40 };

typedef struct {
    ir_ctx cx;
    ir_arena arena;
    x86_cases cases;
    uint32_t *address; /* by case, and after the last */
    uint8_t *bytes;
} file;

static void begin(file *f) {
    *f = (file){0};
    ir_arena_init(&f->arena, &f->cx);
}

/* A jump has distances of its own; elsewhere the displacement is in the operands. */
static uint64_t set_distance(file *f, uint32_t i, const x86_patch *patch) {
    uint32_t at = f->address[i];
    bool jumps = patch->arg < X86_MAX_ARGS;
    if (!jumps) return 0;
    bool byte = patch->length - patch->at == 1;
    int32_t d = byte ? (int8_t)(i * 37) : (int32_t)(i * 2654435761u);
    for (unsigned n = 0; n < (byte ? 1u : 4u); n++)
        f->bytes[at + patch->at + n] = (uint8_t)((uint32_t)d >> 8 * n);
    return at + patch->length + (uint64_t)(int64_t)d;
}

/* Encodes all cases; targets: where each jump leads. */
static void encode_all(file *f, uint64_t *targets) {
    uint32_t at = 0;
    f->address = ir_new_array(&f->arena, uint32_t, f->cases.n + 1);
    f->bytes = ir_alloc(&f->arena, (size_t)f->cases.n * X86_MAX_BYTES + X86_MAX_BYTES);
    for (uint32_t i = 0; i < f->cases.n; i++) {
        const x86_case *c = &f->cases.data[i];
        x86_patch patch;
        f->address[i] = at;
        at += x86_put(f->bytes + at, c->row, &c->operands, &patch);
        targets[i] = set_distance(f, i, &patch);
    }
    f->address[f->cases.n] = at;
}

/* "  1f:\tadd    eax,ebx   # 0x20\n" to the address and "add eax,ebx"; false: no such line. */
static bool read_line(char *line, uint32_t *address) {
    char *text = strchr(line, '\t'), *comment = strchr(line, '#');
    if (!text || sscanf(line, "%x:", address) != 1) return false;
    if (comment) *comment = 0;
    char *out = line;
    for (const char *in = text + 1; *in && *in != '\n'; in++)
        if (*in != ' ' || (out > line && out[-1] != ' ')) *out++ = *in;
    while (out > line && out[-1] == ' ') out--;
    *out = 0;
    return true;
}

/* Mnemonics for which objdump has words of its own for the size of memory, or none. */
static const char *const odd_sizes[] = {"cmpxchg16b ", "lddqu ", "vlddqu "};

/* Takes "XMMWORD PTR " out of the text of such an instruction. */
static void drop_odd_size(char *text) {
    bool odd = false;
    for (size_t i = 0; i < sizeof odd_sizes / sizeof *odd_sizes; i++)
        odd |= strstr(text, odd_sizes[i]) != NULL;
    char *end = odd ? strstr(text, "PTR ") : NULL, *start = end;
    if (!end) return;
    while (start[-2] != ' ' && start[-2] != ',') start--;
    memmove(start - 1, end + 4, strlen(end + 4) + 1);
}

/* {evex} is printed where VEX would do, but is longer because of its displacement. */
static bool same_text(char *want, char *got) {
    static const char evex[] = "{evex} ";
    if (strncmp(got, evex, strlen(evex)) == 0) got += strlen(evex);
    drop_odd_size(want);
    drop_odd_size(got);
    return strcmp(want, got) == 0;
}

static FILE *disassemble(const file *f, char name[TEMPORARY_NAME]) {
    char command[TEMPORARY_NAME + 100];
    int fd = temporary_file(name);
    cr_assert_geq(fd, 0, "%s can be made", name);
    size_t n = f->address[f->cases.n];
    cr_assert_eq(write(fd, f->bytes, n), (ssize_t)n);
    close(fd);
    snprintf(command, sizeof command,
             "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn -z %s", name);
    return popen(command, "r");
}

static void show(const file *f, uint32_t i, const char *want, const char *got) {
    char hex[3 * X86_MAX_BYTES + 1] = "";
    for (uint32_t at = f->address[i], n = 0; at < f->address[i + 1]; at++, n++)
        snprintf(hex + 3 * n, 4, "%02x ", f->bytes[at]);
    fprintf(stderr, "row %d: %s\n    ours:    %s\n    objdump: %s\n", f->cases.data[i].row, hex,
            want, got);
}

/* The lines that objdump gives for case i; all but one are too many. */
static bool compare(file *f, uint32_t i, uint64_t target, char *got, bool whole) {
    const x86_case *c = &f->cases.data[i];
    ir_text want = {.arena = &f->arena};
    x86_print(&want, c->row, &c->operands, target);
    if (whole && same_text(want.data, got)) return true;
    show(f, i, want.data, got);
    return false;
}

static unsigned compare_all(file *f, const uint64_t *targets) {
    char name[TEMPORARY_NAME], line[LINE], got[LINE] = "";
    FILE *objdump = disassemble(f, name);
    uint32_t i = 0, address;
    unsigned wrong = 0;
    bool whole = false; /* `got` begins where case i does */
    cr_assert_not_null(objdump);
    while (fgets(line, sizeof line, objdump) && wrong < SHOWN) {
        if (!read_line(line, &address)) continue;
        while (i < f->cases.n && address >= f->address[i + 1]) {
            wrong += !compare(f, i, targets[i], got, whole && address == f->address[i + 1]);
            whole = false;
            i++;
        }
        whole = address == f->address[i];
        snprintf(got, sizeof got, "%s", line);
    }
    for (; i < f->cases.n && wrong < SHOWN; whole = false, i++)
        wrong += !compare(f, i, targets[i], got, whole);
    pclose(objdump);
    remove(name);
    return wrong;
}

static void check(file *f) {
    uint64_t *targets = ir_new_array(&f->arena, uint64_t, f->cases.n + 1);
    encode_all(f, targets);
    cr_expect_eq(compare_all(f, targets), 0);
    ir_arena_free(&f->arena);
}

Test(encode, every_row_as_objdump_reads_it) {
    file f;
    begin(&f);
    for (unsigned row = 0; row < X86_ROWS; row++) {
        uint32_t before = f.cases.n;
        cases_of_row(&f.arena, row, &f.cases);
        cr_expect_neq(f.cases.n, before, "row %u (%s) takes operands", row,
                      x86_mnemonics[x86_forms[row].mnemonic]);
    }
    check(&f);
}

Test(encode, random_operands_as_objdump_reads_them) {
    file f;
    begin(&f);
    uint64_t seed = 0x5eed;
    for (unsigned row = 0; row < X86_ROWS; row++)
        cases_at_random(&f.arena, row, RANDOM_CASES, &seed, &f.cases);
    check(&f);
}

Test(encode, what_the_encoder_takes_is_an_instruction) {
    file f;
    begin(&f);
    uint64_t seed = 0xabcdef;
    for (unsigned row = 0; row < X86_ROWS; row++)
        cases_changed(&f.arena, row, CHANGED_CASES, &seed, &f.cases);
    check(&f);
}

static bool is_vector(const x86_operand *o) { return o->kind >= X86_XMM && o->kind <= X86_ZMM; }

/* The operands of a case with vector registers from 16 on; the row is the one that takes them. */
static void move_up(x86_case *c) {
    bool any = false;
    for (unsigned n = 0; n < X86_MAX_ARGS; n++) {
        x86_operand *o = &c->operands.arg[n];
        if (is_vector(o)) o->reg = (uint8_t)(o->reg % 16 + 16);
        any |= is_vector(o);
    }
    x86_row row = x86_row_for(c->row, &c->operands);
    cr_expect_eq(row != c->row, any, "row %u has another one for registers above 15", c->row);
    c->row = row;
}

/* Both rows say the same instruction: their opcodes agree, and objdump reads what they name. */
Test(encode, registers_above_15_have_rows) {
    file f;
    begin(&f);
    uint64_t seed = 0x16;
    for (unsigned row = 0; row < X86_ROWS; row++) {
        const x86_form *vex = &x86_forms[row], *evex = &x86_forms[vex->upper];
        if (vex->upper == X86_ROWS) continue;
        cr_expect_eq(evex->encoding, X86_EVEX);
        cr_expect(vex->map == evex->map && vex->prefix == evex->prefix && vex->l == evex->l &&
                      vex->opcode == evex->opcode && vex->modrm == evex->modrm,
                  "row %u (%s) is another instruction", row, x86_mnemonics[vex->mnemonic]);
        uint32_t first = f.cases.n;
        cases_at_random(&f.arena, row, RANDOM_CASES, &seed, &f.cases);
        for (uint32_t n = first; n < f.cases.n; n++) move_up(&f.cases.data[n]);
    }
    check(&f);
}

/* docgen.c — host tool: the reference of operations in docs/IR.md, made from ops.def.
 *
 *   docgen [--ops ops.def]                    prints the tables
 *   docgen --check IR.md [--ops ops.def]      fails when the part between the markers is stale
 *   docgen --update IR.md [--ops ops.def]     rewrites it
 *
 * Rows come from the table as compiled in.  Headings are the comments between rows, which only the
 * text of ops.def has: each row knows its line, and the last heading before that line is its group.
 */
#include "ir/ir.h"

#include <stdlib.h>

static const char begin_marker[] = "<!-- operations: made by ir/docgen.c, do not edit -->\n";
static const char end_marker[] = "<!-- end of operations -->\n";

typedef struct {
    ir_op_info info;
    int line;
} row;

static const row rows[IR_OP_COUNT] = {
#define OP(name, spirv, rule, nargs, imm, levels, flags, eval, doc)                                \
    {{#name, spirv, rule, nargs, imm, levels, flags, #eval, doc}, __LINE__},
#include "ir/ops.def"
#undef OP
};

/* The types of operands and result, in words. */
static const char *const rule_text[] = {
#define RULE(name, doc, ...) [R_##name] = doc,
#include "ir/type_rules.def"
#undef RULE
};

/* What is written after the operands. */
static const char *const imm_text[] = {
    [I_DIM] = "`DIM`",          [I_MEM] = "`align N` *mem*",
    [I_VAR] = "`TYPE align N`", [I_MASK] = "`[LANE, …]`",
    [I_ROUND] = "*round*",      [I_SYNC] = "*sync*",
    [I_GROUP] = "*group*",      [I_IMAGE] = "*image operands*",
    [I_WORD] = "`N`",           [I_STRING] = "`\"FORMAT\"` before the operands",
    [I_FUNC] = "`@callee(…)`",
};

/* ----------------------------------------------------------------------------- text with growth */

typedef struct {
    char *s;
    size_t n, cap;
} text;

static void put_n(text *t, const char *s, size_t n) {
    if (t->n + n + 1 > t->cap) {
        t->cap = (t->n + n + 1) * 2;
        t->s = realloc(t->s, t->cap);
        if (!t->s) abort();
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = 0;
}

static void put(text *t, const char *s) { put_n(t, s, strlen(s)); }

static text read_file(const char *path) {
    text t = {0};
    char chunk[4096];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    put(&t, "");
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;) put_n(&t, chunk, n);
    fclose(f);
    return t;
}

/* --------------------------------------------------------------------------------------- tables */

/* In a table a bar would end the cell. */
static void put_cell(text *t, const char *s) {
    for (; *s; s++) {
        if (*s == '|') put(t, "\\");
        put_n(t, s, 1);
    }
}

static void put_facts(text *t, unsigned flags) {
    static const struct {
        unsigned flag;
        const char *word;
    } facts[] = {
        {F_COMMUTES, "commutes"},     {F_READS, "reads"},       {F_WRITES, "writes"},
        {F_CONVERGENT, "convergent"}, {F_NOFOLD, "not folded"}, {F_WORKITEM, "varies by work-item"},
    };
    bool some = false;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (!(flags & facts[i].flag)) continue;
        put(t, some ? ", " : "; ");
        put(t, facts[i].word);
        some = true;
    }
}

static void put_operation(text *t, const ir_op_info *op) {
    const char *level = op->levels & L_SPMD ? op->levels & L_GROUP ? "" : " ¹" : " ²";
    char cell[200];
    snprintf(cell, sizeof cell, "| `%s`%s | %u%s", op->name, level, op->nargs,
             op->flags & F_VARIADIC ? "+" : "");
    put(t, cell);
    if (imm_text[op->imm]) {
        put(t, ", ");
        put(t, imm_text[op->imm]);
    }
    put(t, " | ");
    put(t, rule_text[op->rule]);
    put(t, " | ");
    put_cell(t, op->doc);
    put_facts(t, op->flags);
    put(t, " | ");
    if (strcmp(op->eval, "NONE") != 0) {
        put(t, "`");
        put_cell(t, op->eval);
        put(t, "`");
    }
    put(t, " | ");
    put(t, op->spirv ? op->spirv : "");
    put(t, " |\n");
}

/* "leaves: no block, interned" of a line that begins a group; NULL of any other. */
static char *heading_of(const char *line, size_t n) {
    static const char mark[] = "/* ---- ";
    size_t skip = sizeof mark - 1;
    if (n < skip || memcmp(line, mark, skip) != 0) return NULL;
    if (n > skip + 3 && memcmp(line + n - 3, " */", 3) == 0) n -= 3;
    char *s = calloc(1, n - skip + 1);
    if (!s) abort();
    memcpy(s, line + skip, n - skip);
    return s;
}

static void put_heading(text *t, char *heading) {
    if (*heading >= 'a' && *heading <= 'z') *heading = (char)(*heading - 'a' + 'A');
    put(t, "\n#### ");
    put(t, heading);
    put(t, "\n\n| operation | operands | types | what it does | one lane | SPIR-V |\n"
           "|---|---|---|---|---|---|\n");
}

static text put_tables(const char *def_path) {
    text def = read_file(def_path), out = {0};
    int line = 0, next = 0;
    char *heading = NULL;
    for (const char *s = def.s; *s; s += *s == '\n') {
        size_t n = strcspn(s, "\n");
        char *found = heading_of(s, n);
        if (found) {
            free(heading);
            heading = found;
        }
        line++;
        for (; next < IR_OP_COUNT && rows[next].line == line; next++) {
            if (heading) put_heading(&out, heading);
            free(heading);
            heading = NULL;
            put_operation(&out, &rows[next].info);
        }
        s += n;
    }
    put(&out, "\n");
    free(heading);
    free(def.s);
    return out;
}

/* ---------------------------------------------------------------------------------------- modes */

/* The document with the tables between its markers. */
static text merge(const char *path, const text *old, const text *tables) {
    const char *from = strstr(old->s, begin_marker), *to = from ? strstr(from, end_marker) : NULL;
    text out = {0};
    if (!to) {
        fprintf(stderr, "%s: the markers of the operations are missing\n", path);
        exit(1);
    }
    put_n(&out, old->s, (size_t)(from - old->s));
    put(&out, begin_marker);
    put_n(&out, tables->s, tables->n);
    put(&out, to);
    return out;
}

static int check(const char *path, const text *old, const text *now) {
    if (strcmp(old->s, now->s) == 0) return 0;
    fprintf(stderr, "%s: the operations are stale; run docgen --update %s\n", path, path);
    return 1;
}

static int update(const char *path, const text *now) {
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(now->s, 1, now->n, f) != now->n || fclose(f) != 0) {
        perror(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *ops = "ir/ops.def", *checked = NULL, *updated = NULL;
    for (int i = 1; i < argc; i += 2) {
        const char **to = strcmp(argv[i], "--ops") == 0      ? &ops
                          : strcmp(argv[i], "--check") == 0  ? &checked
                          : strcmp(argv[i], "--update") == 0 ? &updated
                                                             : NULL;
        if (!to || i + 1 == argc) {
            fprintf(stderr, "usage: docgen [--ops FILE] [--check FILE | --update FILE]\n");
            return 2;
        }
        *to = argv[i + 1];
    }
    text tables = put_tables(ops);
    const char *path = updated ? updated : checked;
    int status = 0;
    if (path) {
        text old = read_file(path), now = merge(path, &old, &tables);
        status = updated ? update(path, &now) : check(path, &old, &now);
        free(old.s);
        free(now.s);
    } else {
        fputs(tables.s, stdout);
    }
    free(tables.s);
    return status;
}

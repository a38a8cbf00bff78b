/* text.h — what the printer and the parser of the text form share; private to ir/.
 *
 * The words of the language (text.c), the tokens (lex.re) and the state of the parser (parse*.c).
 * docs/IR.md holds the grammar.
 */
#ifndef SPVFUSE_IR_TEXT_H
#define SPVFUSE_IR_TEXT_H

#include "ir/build.h"
#include "ir/ir.h"

/* ------------------------------------------------------------------------------- words (text.c) */

/* A word and the bits that it stands for; a table ends with a word of NULL. */
typedef struct {
    const char *word;
    uint32_t bits;
} text_word;

extern const text_word text_inst_flags[], text_mem_flags[], text_param_attrs[];
extern const text_word text_func_flags[], text_global_flags[], text_float_controls[];
extern const text_word text_semantics[], text_image_operands[], text_loop_hints[];
extern const text_word text_scopes[], text_rounds[], text_levels[], text_spaces[], text_kinds[];

/* The entry whose word is the n characters at s, or NULL. */
const text_word *text_find_word(const text_word *table, const char *s, size_t n);
/* The word of exactly these bits, or NULL. */
const char *text_word_of(const text_word *table, uint32_t bits);

bool text_is_numbered_label(const char *s, size_t n); /* b0, b1 …: what unnamed blocks print as */
void text_put_quoted(ir_text *out, const char *s, size_t n);
void text_put_name(ir_text *out, char sigil, const char *name);
void text_put_number(ir_text *out, uint64_t n);

/* May a leaf of this type hold the address of a global in an initializer? */
bool text_holds_address(const ir_module *m, ir_type t);
/* The rounding mode that is meant when none is written. */
ir_round text_default_round(ir_op op);
/* Group operations that say which of reduce, inclusive, exclusive or clustered they do. */
bool text_is_scan(ir_op op);

/* --------------------------------------------------------------------------- printing (print.c) */

typedef struct text_printer text_printer;
void text_print_lane(ir_text *out, ir_type elem, uint64_t bits);
void text_print_lanes(ir_text *out, ir_type t, const uint64_t *lanes);
void text_put_bits(ir_text *out, const text_word *table, uint32_t bits); /* " word" for each */
text_printer *text_printer_new(ir_text *out, const ir_func *f);
void text_print_value_name(text_printer *p, const ir_inst *i);
void text_print_label(text_printer *p, const ir_block *b);
void text_print_inst(text_printer *p, const ir_inst *i);
/* With its label; out is the printer's. */
void text_print_block(text_printer *p, ir_text *out, const ir_block *b, unsigned flags);

/* ------------------------------------------------------------------------------ tokens (lex.re) */

/* Punctuation is its own character. */
enum {
    T_END = 256,
    T_WORD,   /* align, i32, entry */
    T_VALUE,  /* %x %12 %"a b" */
    T_SYMBOL, /* @f @"a b" */
    T_INT,    /* -12 0x1f */
    T_FLOAT,  /* 1.5 0x1.8p+3 -inf nan(0x7fc00001) */
    T_STRING, /* "a\n\x00" */
    T_LOC,    /* !12 */
    T_BAD_NUMBER,
    T_BAD_STRING,
    T_BAD_BYTE
};

typedef struct {
    int kind;
    uint32_t line, column; /* from 1; columns count bytes */
    bool first;            /* of its line */
    const char *start, *end;
} text_token;

typedef struct {
    const unsigned char *cursor, *limit; /* *limit is 0 */
    const unsigned char *line_start;
    uint32_t line;
} text_lexer;

void text_lex(text_lexer *l, text_token *t);

/* -------------------------------------------------------------------------- parsing (parse.c …) */

/* A name of a value or a label.  `%12` and `b12` are numbered: they name nothing in the IR. */
typedef struct text_name text_name;
struct text_name {
    const char *text;
    size_t n;
    bool numbered;
    bool defined;
    text_token place; /* of the definition, or of the first use until there is one */
    void *what;       /* ir_inst or ir_block */
    text_name *next;  /* the next one with an equal hash */
    text_name *later; /* the next one in order of appearance */
};

typedef struct {
    ir_map map;
    text_name *first, *last;
} text_names;

/* An operand that was not known when it was read; without value and symbol it is a case of a
 * switch whose selector was not known. */
typedef struct {
    ir_inst *user;
    unsigned arg;
    text_token place;
    text_name *value;   /* a value that is defined further down, or NULL */
    const char *symbol; /* otherwise the name of a global, or of the function of a call */
    bool callee;
    ir_type type; /* written before the value; IR_VOID: nothing was */
} text_fixup;

/* An address in the initializer of g. */
typedef struct {
    ir_global *g;
    ir_reloc reloc;     /* its global is filled in at the end of the module */
    const char *symbol; /* the global's name */
    text_token place;
} text_reloc;

/* A phi and the blocks that its arguments come from. */
typedef struct {
    ir_inst *phi;
    text_token place;
    text_name **from;
} text_phi;

enum { TEXT_MAX_ERRORS = 20, TEXT_MAX_ARGS = UINT16_MAX };

typedef struct {
    ir_ctx *cx;
    const char *file;
    ir_arena scratch;
    text_lexer lex;
    text_token tok;    /* the token to look at */
    text_token behind; /* where the one before it ends */
    bool in_inst;      /* in an instruction, which ends with its line */
    const char *first; /* where the first token begins */
    ir_module *m;
    unsigned errors;
    uint16_t *ops; /* hash table of op + 1 by name */
    uint64_t init_bytes;
    ir_vec(text_fixup) symbols; /* uses of functions and globals, of the module */
    ir_vec(text_reloc) relocs;  /* of the module; those of a global are together */
    /* of the function being read */
    ir_builder b;
    ir_inst *dummy; /* takes the place of the operand until a fixup puts it there */
    text_names values, labels;
    ir_vec(text_fixup) fixups;
    ir_vec(text_phi) phis;
    ir_vec(ir_inst *) args;  /* of the instruction being read */
    ir_vec(text_fixup) open; /* fixups among them */
} text_parser;

/* Reports an error at the token and leaves the declaration being read. */
IR_NORETURN void text_fail(text_parser *p, const text_token *at, const char *fmt, ...)
    IR_PRINTF(3, 4);
IR_NORETURN void text_expected(text_parser *p, const char *what);
const char *text_show(text_parser *p, const text_token *t); /* for messages */

void text_advance(text_parser *p);
bool text_at(const text_parser *p, const char *word);
bool text_accept(text_parser *p, int kind);
bool text_accept_word(text_parser *p, const char *word);
void text_expect(text_parser *p, int kind, const char *what);
uint64_t text_expect_number(text_parser *p, uint64_t max, const char *what);
const text_word *text_accept_in(text_parser *p, const text_word *table);
bool text_same_line(const text_parser *p); /* does the statement go on? */
/* The value of a number token; false when it does not fit. */
bool text_number(const text_token *t, uint64_t *magnitude, bool *negative);
/* The bytes that a quoted token means, ended by 0 (not counted in *n). */
char *text_unquote(text_parser *p, const text_token *t, size_t *n);
char *text_name_of_token(text_parser *p, const text_token *t);
char *text_expect_string(text_parser *p, const char *what);
char *text_expect_symbol(text_parser *p, const char *what);

ir_type text_parse_type(text_parser *p);
ir_type text_parse_memory_type(text_parser *p); /* not void */
ir_type text_parse_struct(text_parser *p, const char *name);
const char *text_show_type(text_parser *p, ir_type t); /* for messages */
bool text_at_literal(const text_parser *p);            /* one that needs a type from outside */
uint64_t text_lane_of_token(text_parser *p, const text_token *t, ir_type elem);
uint64_t text_parse_lane(text_parser *p, ir_type elem);
void text_parse_lanes(text_parser *p, ir_type t, uint64_t *lanes);

void text_parse_global(text_parser *p);
void text_resolve_relocs(text_parser *p);
void text_parse_func(text_parser *p);
text_name *text_intern_name(text_parser *p, text_names *names, const text_token *t);
text_name *text_define_value(text_parser *p, const text_token *t, ir_inst *i);
ir_block *text_block_of(text_parser *p, text_name *label); /* made when it is new */
uint32_t text_parse_loc(text_parser *p);                   /* !12; 0: none */
void text_hash_ops(text_parser *p);
/* `at`: the first token of the instruction; a word has been read already. */
void text_parse_inst(text_parser *p, const text_token *at);
/* Fails unless the value has the type that precedes it. */
void text_check_operand(text_parser *p, const text_token *at, const ir_inst *v, ir_type written);
void text_resolve_symbols(text_parser *p);
/* Reads a declaration about structs by value, if there is one. (parse_layout.c) */
bool text_accept_layout(text_parser *p);

#endif

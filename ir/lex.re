/* lex.re — tokens of the text form; re2c makes lex.c of it.
 *
 * The input is a copy that ends with a zero byte, so no rule has to ask for more.  Lines and
 * columns are exact and count from 1, columns in bytes.  A token knows whether it is the first of
 * its line: statements end at the end of a line.  What is no token at all becomes a T_BAD_… token,
 * and the parser reports it.
 */
#include "ir/text.h"

static void begin_line(text_lexer *l, text_token *t) {
    l->line++;
    l->line_start = l->cursor;
    t->first = true;
}

void text_lex(text_lexer *l, text_token *t) {
    const unsigned char *marker;
    t->first = l->cursor == l->line_start;
again:
    t->start = (const char *)l->cursor;
    /*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = l->cursor;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    digits = [0-9]+;
    hex    = "0x" [0-9a-fA-F]+;
    word   = [A-Za-z_$.] [A-Za-z0-9_$.]*;
    open   = ["] ([^"\\\n\x00] | [\\] [^\n\x00])*;
    string = open ["];
    exp    = [eE] [-+]? digits;
    decfp  = digits ("." [0-9]* exp? | exp);
    hexfp  = hex ("." [0-9a-fA-F]*)? [pP] [-+]? digits;
    name   = word | digits | string;

    [ \t\r]+                { goto again; }
    ";" [^\n\x00]*          { goto again; }
    "\n"                    { begin_line(l, t); goto again; }
    "\x00"                  { t->kind = l->cursor > l->limit ? T_END : T_BAD_BYTE; goto done; }
    word                    { t->kind = T_WORD; goto done; }
    "%" name                { t->kind = T_VALUE; goto done; }
    "@" (word | string)     { t->kind = T_SYMBOL; goto done; }
    "!" digits              { t->kind = T_LOC; goto done; }
    string                  { t->kind = T_STRING; goto done; }
    [-+]? (digits | hex)    { t->kind = T_INT; goto done; }
    [-+]? (decfp | hexfp)   { t->kind = T_FLOAT; goto done; }
    [-+] "inf"              { t->kind = T_FLOAT; goto done; }
    "nan(" hex ")"          { t->kind = T_FLOAT; goto done; }
    [-+]? [0-9] [0-9A-Za-z_$.]* { t->kind = T_BAD_NUMBER; goto done; }
    open                    { t->kind = T_BAD_STRING; goto done; }
    [(){}[\]<>:,=&]         { t->kind = (unsigned char)*t->start; goto done; }
    *                       { t->kind = T_BAD_BYTE; goto done; }
    */
done:
    if (t->kind == T_END) l->cursor = l->limit; /* stay there */
    t->end = (const char *)l->cursor;
    t->line = l->line;
    t->column = (uint32_t)(t->start - (const char *)l->line_start) + 1;
}

/* plan_lex.re — tokens of the plan language.
 *
 * The text ends with a 0 byte that follows its last character; a 0 byte inside is an error.
 * A newline is a token, because it ends a statement; comments run from # to the end of the line.
 */
#include "runtime/plan/plan.h"

static rt_token make(const rt_lexer *l, rt_token_kind kind, const char *start) {
    return (rt_token){.kind = kind,
                      .text = start,
                      .n = (uint32_t)(l->at - start),
                      .line = l->line,
                      .column = (uint32_t)(start - l->line_start) + 1};
}

rt_token rt_next_token(rt_lexer *l) {
    const char *start, *marker = l->at;
    rt_token t;
again:
    start = l->at;
    /*!re2c
        re2c:define:YYCTYPE = "unsigned char";
        re2c:api = custom;
        re2c:api:style = free-form;
        re2c:define:YYPEEK = "(unsigned char)*l->at";
        re2c:define:YYSKIP = "++l->at;";
        re2c:define:YYBACKUP = "marker = l->at;";
        re2c:define:YYRESTORE = "l->at = marker;";
        re2c:yyfill:enable = 0;

        blank   = [ \t\r]+ | "#" [^\n\x00]*;
        name    = [a-zA-Z_] [a-zA-Z0-9_.]*;
        suffix  = [fFuUlLhH]*;
        decimal = [0-9]+ ("." [0-9]+)? ([eE] [-+]? [0-9]+)? suffix;
        hex     = "0" [xX] [0-9a-fA-F]+ ("." [0-9a-fA-F]*)? ([pP] [-+]? [0-9]+)? [uUlL]*;
        string  = "\"" [^"\n\x00]* "\"";

        "\\" [ \t\r]* "\n" { l->line++; l->line_start = l->at; goto again; }
        blank   { goto again; }
        "\n"    { t = make(l, RT_NEWLINE, start); l->line++; l->line_start = l->at; return t; }
        name    { return make(l, RT_NAME, start); }
        decimal { return make(l, RT_NUMBER, start); }
        hex     { return make(l, RT_NUMBER, start); }
        string  { return make(l, RT_STRING, start); }
        ".."    { return make(l, RT_RANGE, start); }
        "[" | "]" | [{}(),:=~*+-] { return make(l, (rt_token_kind)*start, start); }
        "\x00"  {
            if (start == l->end) { l->at = start; return make(l, RT_END, start); }
            return make(l, RT_BAD, start);
        }
        *       { return make(l, RT_BAD, start); }
    */
}

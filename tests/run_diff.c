/* run_diff.c — texts as lines, and what differs between two of them. */
#include "tests/run.h"

void run_split(runner *r, const char *text, size_t n, line_list *out) {
    for (const char *s = text, *end = text + n; s < end;) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        if (!stop) stop = end;
        *ir_push(&r->arena, out) = (line){s, (size_t)(stop - s)};
        s = stop + 1;
    }
}

static void print_lines(const line_list *l, uint32_t from, uint32_t to, char sign) {
    for (uint32_t i = from; i < to; i++)
        printf("  %c %.*s\n", sign, (int)l->data[i].n, l->data[i].s);
}

static bool same_line(line a, line b) { return a.n == b.n && memcmp(a.s, b.s, a.n) == 0; }

void run_diff(runner *r, const char *want, const char *got) {
    enum { AROUND = 2 };
    line_list a = {0}, b = {0};
    uint32_t head = 0, tail = 0;
    run_split(r, want, strlen(want), &a);
    run_split(r, got, strlen(got), &b);
    uint32_t least = a.n < b.n ? a.n : b.n;
    while (head < least && same_line(a.data[head], b.data[head])) head++;
    while (tail < least - head && same_line(a.data[a.n - 1 - tail], b.data[b.n - 1 - tail])) tail++;
    print_lines(&a, head > AROUND ? head - AROUND : 0, head, ' ');
    print_lines(&a, head, a.n - tail, '-');
    print_lines(&b, head, b.n - tail, '+');
    print_lines(&a, a.n - tail, a.n - (tail > AROUND ? tail - AROUND : 0), ' ');
}

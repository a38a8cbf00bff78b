/* parcopy_test.c — the order of copies that happen at once, by exhaustion: each of up to five
 * registers gets nothing, a constant, or what any of them holds, with a spare register and without.
 */
#include "codegen/regalloc/ra.h"

#include <criterion/criterion.h>

enum { MOST = 5, SPARE = MOST, CONSTANT = 100, RUBBISH = -1 };

typedef struct {
    unsigned n, ncopies;
    ra_copy copy[MOST];
    int want[MOST];
} problem;

/* Register r gets choice - 2; 0: nothing, 1: a constant. */
static problem pose(unsigned n, unsigned number) {
    problem p = {.n = n};
    for (unsigned r = 0; r < n; r++, number /= n + 2) {
        unsigned choice = number % (n + 2);
        p.want[r] = choice == 0   ? (int)r
                    : choice == 1 ? CONSTANT + (int)p.ncopies
                                  : (int)choice - 2;
        if (choice == 0) continue;
        p.copy[p.ncopies++] =
            (ra_copy){(uint8_t)r, choice == 1 ? CG_ANY_REG : (uint8_t)(choice - 2)};
    }
    return p;
}

static void run(const ra_step *s, unsigned n, int reg[MOST + 1]) {
    int slot = RUBBISH;
    for (unsigned k = 0; k < n; k++) switch (s[k].kind) {
        case RA_MOVE: reg[s[k].to] = reg[s[k].from]; break;
        case RA_SAVE: slot = reg[s[k].from]; break;
        case RA_RESTORE: reg[s[k].to] = slot; break;
        default: reg[s[k].to] = CONSTANT + s[k].from;
        }
}

/* Registers that get another's content, and one more step for each cycle. */
static unsigned least_steps(const problem *p) {
    unsigned steps = 0, in_cycles[MOST] = {0};
    for (unsigned r = 0; r < p->n; r++) {
        steps += p->want[r] != (int)r;
        unsigned x = r, length = 0;
        bool first = true;
        do {
            x = p->want[x] < CONSTANT ? (unsigned)p->want[x] : r + MOST;
            first &= x >= r;
            length++;
        } while (x != r && x < p->n && length <= p->n);
        in_cycles[r] = x == r && first && length > 1;
        steps += in_cycles[r];
    }
    return steps;
}

static void try_problem(unsigned n, unsigned number, unsigned spare) {
    ra_step steps[2 * MOST];
    int reg[MOST + 1] = {0, 1, 2, 3, 4, RUBBISH};
    problem p = pose(n, number);
    unsigned nsteps = ra_order_copies(p.copy, p.ncopies, spare, steps);
    run(steps, nsteps, reg);
    for (unsigned r = 0; r < n; r++)
        cr_assert_eq(reg[r], p.want[r], "%u registers, number %u, r%u", n, number, r);
    cr_assert_eq(nsteps, least_steps(&p), "%u registers, number %u: %u steps", n, number, nsteps);
}

Test(parcopy, all) {
    for (unsigned n = 1; n <= MOST; n++) {
        unsigned count = 1;
        for (unsigned r = 0; r < n; r++) count *= n + 2;
        for (unsigned number = 0; number < count; number++) {
            try_problem(n, number, SPARE);
            try_problem(n, number, CG_ANY_REG);
        }
    }
}

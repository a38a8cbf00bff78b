/* words.h — SPIR-V that a test puts together word by word. */
#ifndef SPVFUSE_TESTS_WORDS_H
#define SPVFUSE_TESTS_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MAX_WORDS = 1 << 16 };
static uint32_t words[MAX_WORDS], nwords;

/* An instruction: its opcode and operands; with a string after them. */
#define OP(...) put((const uint32_t[]){__VA_ARGS__, END})
#define OPS(s, ...) put_string((const uint32_t[]){__VA_ARGS__, END}, s)
#define END 0xdeadbeefu

static inline void put(const uint32_t *inst) {
    uint32_t n = 0;
    while (inst[n] != END) n++;
    words[nwords] = inst[0] | n << 16;
    memcpy(&words[nwords + 1], inst + 1, (n - 1) * sizeof *words);
    nwords += n;
}

static inline void put_string(const uint32_t *inst, const char *s) {
    uint32_t start = nwords;
    put(inst);
    for (size_t i = 0; i <= strlen(s); i += 4) {
        words[nwords] = 0;
        for (size_t k = 0; k < 4 && i + k < strlen(s); k++)
            words[nwords] |= (uint32_t)(unsigned char)s[i + k] << (8 * k);
        nwords++;
    }
    words[start] = inst[0] | (nwords - start) << 16;
}

#endif

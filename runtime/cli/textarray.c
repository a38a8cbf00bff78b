/* textarray.c — a host tool: a text file as an array in C, which ends with 0.
 *
 *   textarray NAME <FILE >FILE.c
 */
#include <stdio.h>

int main(int argc, char **argv) {
    enum { PER_LINE = 20 };
    int c, n = 0;
    if (argc != 2) return 2;
    printf("/* Made by textarray from a file. */\nextern const char %s[];\nconst char %s[] = {",
           argv[1], argv[1]);
    while ((c = getchar()) != EOF) printf("%s%d,", n++ % PER_LINE ? "" : "\n    ", (signed char)c);
    printf("\n    0};\n");
    return ferror(stdin) || fflush(stdout) ? 1 : 0;
}

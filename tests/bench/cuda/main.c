/* main.c — the speed of kernels on an NVIDIA GPU: ours, nvcc's, and those of NVIDIA's OpenCL.
 *
 *   cuda [-r ROUNDS] [-j FILE] BUILD [NAME …]
 *
 * BUILD is the folder of the build; the program runs in the root of the sources, after cuda.sh has
 * compiled the peers.  A row has microseconds of a launch for each side, and the speed of ours
 * relative to each peer (above 1: ours is faster), as medians over rounds, in which each side is
 * timed once, in random order.  Launches take turns with buffers that are together larger than the
 * L2 cache.  Results are compared with those of code in double precision at an odd size, and with
 * nvcc's at the size that is timed; a side that differs, or fails, has no speed.  Kernels that cannot tell their groups, and have groups of 64
 * on a CPU, have 256 here.  FILE gets the raw figures as JSON.
 *
 *   plain        ours for any launch: PTX from SPIR-V, through the driver's compiler
 *   ours         as the launch allows it: with the options `disjoint`, `aligned` and `coarsen`, and
 *                as many of 4, 2 or 1 work-items a thread as suit it.  Device cuda asks for 4 only
 *   nvcc         -O3 -prec-div=false -prec-sqrt=false, which is as accurate as OpenCL asks for
 *   nvcc exact   -O3
 *   OpenCL       NVIDIA's, from the same OpenCL C; "-" if its library is not there
 */
#include "tests/bench/cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

static int usage(void) {
    fprintf(stderr, "usage: cuda [-r ROUNDS] [-j FILE] BUILD [NAME ...]\n");
    return 2;
}

int main(int argc, char **argv) {
    cuda_options o = {.rounds = 11};
    (void)argc;
    for (argv++; argv[0] && argv[1] && **argv == '-'; argv += 2) {
        if (strcmp(*argv, "-r") == 0)
            o.rounds = (unsigned)atoi(argv[1]);
        else if (strcmp(*argv, "-j") != 0)
            return usage();
        else if (!(o.json = fopen(argv[1], "w")))
            return perror(argv[1]), 2;
    }
    if (!*argv || **argv == '-' || !o.rounds || o.rounds > MOST_ROUNDS) return usage();
    o.build = *argv++;
    o.only = argv;
    if (!gpu_open()) return 2;
    unsigned wrong = run_cuda_table(&o);
    if (o.json) fclose(o.json);
    return wrong != 0;
}

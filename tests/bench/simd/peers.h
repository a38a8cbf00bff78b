/* peers.h — the loops in C that benchmarks are compared with, and references of several themes. */
#ifndef TESTS_BENCH_SIMD_PEERS_H
#define TESTS_BENCH_SIMD_PEERS_H

#include "tests/bench/simd/simd.h"

host_loop want_matmul_f32, want_matmul_f64, want_matmul_i8, want_transpose;

/* elementwise_peer.c */
host_loop loop_add, loop_saxpy, loop_triad, loop_blend, loop_chain;
/* math_peer.c */
host_loop loop_black_scholes, loop_gelu, loop_sigmoid, loop_pow, loop_sin, loop_sincos;
/* integers_peer.c */
host_loop loop_hash, loop_xorshift, loop_bitonic, loop_fft4;
/* loops_peer.c */
host_loop loop_nbody, loop_matmul_f32, loop_matmul_f64, loop_matmul_i8, loop_nearest, loop_horner,
    loop_row_sums;
/* groups_peer.c */
host_loop loop_reduce, loop_scan, loop_histogram, loop_softmax, loop_layernorm;
/* images_peer.c */
host_loop loop_stencil5, loop_rows, loop_columns, loop_rgba, loop_transpose, loop_downscale;
/* divergent_peer.c */
host_loop loop_mandelbrot, loop_spmv, loop_pull, loop_push, loop_switch, loop_collatz, loop_newton;
/* structs_peer.c */
host_loop loop_particles, loop_rays, loop_digits;

#endif

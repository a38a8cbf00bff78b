/* shapes_impl.h — what the files of shapes share. */
#ifndef SPVFUSE_TESTS_SCALING_SHAPES_IMPL_H
#define SPVFUSE_TESTS_SCALING_SHAPES_IMPL_H

#include "tests/scaling/shapes.h"

/* shape_text.c */

/* Writes a line or more of IR text in which places stand for what changes:
 *   #     k
 *   $     the value before the kth of a series, %x<k-1>; %v when k is 0
 *   {}    the next argument, a uint32_t
 *   {s}   the next argument, a string */
void shape_put(FILE *out, uint32_t k, const char *text, ...);
/* The head of a kernel with buffer %a and more parameters (", %b: …"), up to the load of %v. */
void shape_begin(FILE *out, const char *name, const char *more_params);
/* Stores a value to the item's element of %a. */
void shape_end(FILE *out, const char *value);
/* Stores the last value of a series of n. */
void shape_end_series(FILE *out, uint32_t n);
/* %p<k>, the address of an element of %a. */
void shape_element(FILE *out, uint32_t k, uint32_t index);
/* A series that uses n values, %<name>0 and so on. */
void shape_fold(FILE *out, uint32_t n, const char *name);

/* code_shapes.c */
shape_fn shape_chain, shape_loads, shape_address, shape_stores, shape_alias, shape_stencil,
    shape_live, shape_selects, shape_doubling, shape_pointers, shape_vectors, shape_lanes,
    shape_math, shape_constants, shape_atomics, shape_diamonds, shape_meetings, shape_nested_ifs,
    shape_exits, shape_switch, shape_irreducible, shape_loops, shape_nest, shape_phis,
    shape_loop_body, shape_blocks_and_values;

/* waiting_shapes.c */
shape_fn shape_barriers, shape_loop_barriers, shape_loop_families, shape_loop_addresses,
    shape_kept_values, shape_kept_over_all;

/* lane_shapes.c */
shape_fn shape_item_loops, shape_index_sets, shape_rows, shape_contiguous, shape_members_of_items,
    shape_groups, shape_gathers, shape_strips, shape_left_loops, shape_lane_phis, shape_lane_nest,
    shape_left_nest, shape_masks, shape_nested_masks, shape_lane_arrays;

/* thread_shapes.c */
shape_fn shape_coarsened, shape_stepping, shape_private_arrays, shape_close_cases,
    shape_given_struct;

/* declared_shapes.c */
shape_fn shape_specs, shape_table, shape_table_of_addresses, shape_exports, shape_closure,
    shape_prints, shape_subgroup_sums, shape_scans, shape_copies;

/* plan_shapes.c */
shape_fn shape_launches, shape_members, shape_arguments, shape_buffers, shape_specials,
    shape_accesses, shape_internal, shape_single_launches, shape_values;

#endif

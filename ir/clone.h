/* clone.h — private to clone.c, import.c and link.c: a copied body refers to types, functions and
 * globals, which are imported; an imported function gets a copied body; linking is importing all.
 */
#ifndef SPVFUSE_IR_CLONE_H
#define SPVFUSE_IR_CLONE_H

#include "ir/change.h"

/* ---------------------------------------------------------------------------------- in import.c */

ir_type ir_importer_type(ir_importer *im, const ir_module *from, ir_type t);
/* A function that an imported one calls; as a callee it is no longer a kernel. */
ir_func *ir_importer_callee(ir_importer *im, const ir_func *f);
/* A function under its own name, kernels included; its body follows. */
ir_func *ir_importer_declare(ir_importer *im, const ir_func *f);
/* f becomes `there`, a function of im->m; false: it has another signature. */
bool ir_importer_join(ir_importer *im, const ir_func *f, ir_func *there);
bool ir_importer_join_global(ir_importer *im, const ir_global *g, ir_global *there);
ir_global *ir_importer_reference(ir_importer *im, const ir_global *g);
/* Gives everything that has been declared its body or initial bytes. */
void ir_importer_finish(ir_importer *im);

/* ----------------------------------------------------------------------------------- in clone.c */

/* Copies the body of `from` to `to`, which has none and the same parameters. */
void ir_clone_into(ir_importer *im, const ir_func *from, ir_func *to);

#endif

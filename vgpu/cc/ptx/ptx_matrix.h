/* SPDX-License-Identifier: MIT
 * ptx_matrix.h: matrices of which each lane of a warp has a part.
 */
#ifndef VGPU_CC_PTX_MATRIX_H
#define VGPU_CC_PTX_MATRIX_H

#include "ptx.h"

struct cc_ptx_shape {
    unsigned m, n, k;
};

/* The words of the qualifiers from *at on, one after the other, as an instruction's grammar has
 * them; false: the next one is another. */
bool cc_ptx_next_is(const struct cc_ptx *in, int *at, const char *word);
/* m16n8k16 */
bool cc_ptx_next_shape(const struct cc_ptx *in, int *at, struct cc_ptx_shape *shape);
/* row, col: 1 for row, 0 for col; -1: another word */
int cc_ptx_next_layout(const struct cc_ptx *in, int *at);
/* The VGPU_MMA_* of a type; -1: another word. */
int cc_ptx_next_element(const struct cc_ptx *in, int *at);

unsigned cc_ptx_element_bits(int type);
/* Registers that a lane has of a matrix of rows * columns: each element once. */
unsigned cc_ptx_matrix_registers(unsigned rows, unsigned columns, int type);
/* wmma has fragments of f16 factors in 8 registers, whatever their number of elements. */
unsigned cc_ptx_fragment_registers(unsigned rows, unsigned columns, int type, bool factor);
/* What wmma offers: the factors' type is `type`. */
bool cc_ptx_wmma_offers(const struct cc_ptx_shape *shape, int type);

/* ptx_mma.c: wmma.mma */
enum cc_ptx_known cc_ptx_wmma_product(struct cc_ptx_statement *s, const struct cc_ptx *in);

#endif

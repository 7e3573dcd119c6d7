/* SPDX-License-Identifier: MIT
 * matrix.c: products of small matrices by a warp (wmma): exact but for one rounding of each sum at
 * the end. The order in which tensor cores add, and what they cut off, is not documented.
 */
#include "image.h"
#include "warp.h"

#include <math.h>

enum { TILE_MAX = 32 * 16 };

static struct vgpu_matrices *lane_matrices(const struct warp *warp, uint32_t lane)
{
    return (struct vgpu_matrices *)warp->threads[lane].warp_op.bits;
}

/* Puts the lanes' parts of one matrix together. */
static void gather_parts(double *whole, const double *part, uint32_t lane, uint32_t elements)
{
    uint32_t each = elements / WARP_LANES;
    for (uint32_t i = 0; i < each; i++)
        whole[lane * each + i] = part[i];
}

static double element_sum(const double *a, const double *b, double sum, uint32_t k, uint32_t n)
{
    for (uint32_t i = 0; i < k; i++)
        sum = fma(a[i], b[(uint64_t)i * n], sum);
    return sum;
}

void matrix_product(struct warp *warp, uint32_t met)
{
    static double a[TILE_MAX], b[TILE_MAX];
    if (met != 0xffffffff) /* undefined: the accumulators stay */
        return;
    const struct vgpu_matrices shape = *lane_matrices(warp, 0);
    uint32_t each = shape.m * shape.n / WARP_LANES;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        gather_parts(a, lane_matrices(warp, lane)->a, lane, shape.m * shape.k);
        gather_parts(b, lane_matrices(warp, lane)->b, lane, shape.k * shape.n);
    }
    for (uint32_t e = 0; e < shape.m * shape.n; e++) {
        double *c = &lane_matrices(warp, e / each)->c[e % each];
        *c = element_sum(a + (uint64_t)(e / shape.n) * shape.k, b + e % shape.n, *c, shape.k,
                         shape.n);
    }
}

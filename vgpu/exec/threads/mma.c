/* SPDX-License-Identifier: MIT
 * mma.c: products of small matrices by a warp, as PTX has them (mma.sync, wmma.mma). Which lane has
 * which elements is that of PTX ISA 9.0, chapter 9.7.14.5, which has one rule for all types: of a
 * tile of 8 rows, lanes 4g to 4g + 3 have row g, a register each, and a register of 32 bits holds
 * neighbours. Products are exact but for one rounding of each sum at the end, as in matrix.c.
 */
#include <math.h>

#include "float_bits.h"
#include "image.h"
#include "warp.h"

enum { M_MOST = 32, N_MOST = 32, K_MOST = 64, TILE = 8, GROUP = 4 };

struct product {
    struct vgpu_mma shape;
    double a[M_MOST][K_MOST], b[K_MOST][N_MOST];
};

static uint32_t mma_bits(uint32_t type)
{
    static const uint8_t bits[] = {
        [VGPU_MMA_F16] = 16, [VGPU_MMA_BF16] = 16, [VGPU_MMA_TF32] = 32, [VGPU_MMA_F32] = 32,
        [VGPU_MMA_F64] = 64, [VGPU_MMA_S8] = 8,    [VGPU_MMA_U8] = 8,    [VGPU_MMA_S4] = 4,
        [VGPU_MMA_U4] = 4,   [VGPU_MMA_E4M3] = 8,  [VGPU_MMA_E5M2] = 8,  [VGPU_MMA_S32] = 32};
    return bits[type];
}

/* ---- numbers ---- */

/* A number of 1 bit for the sign, some for the exponent, and the rest: as an f32 of the same bits,
 * whose exponent then counts from another number. */
static double small_float(uint32_t raw, uint32_t exponent_bits, uint32_t mantissa_bits)
{
    uint32_t sign = 1u << (exponent_bits + mantissa_bits), magnitude = raw & (sign - 1);
    uint32_t infinite = sign - (1u << mantissa_bits), more = 1u << (exponent_bits - 1);
    float value = to_f32(magnitude << (23 - mantissa_bits)) * to_f32((255u - more) << 23);
    if (exponent_bits == 4 ? magnitude == sign - 1 : magnitude > infinite)
        value = NAN;
    else if (exponent_bits != 4 && magnitude == infinite)
        value = INFINITY;
    return (double)(raw & sign ? -value : value);
}

static double mma_number(uint32_t type, uint64_t raw)
{
    switch (type) {
    case VGPU_MMA_F16:
        return small_float((uint32_t)raw, 5, 10);
    case VGPU_MMA_BF16:
        return (double)to_f32(raw << 16);
    case VGPU_MMA_TF32:
        return (double)to_f32(raw & 0xffffe000u);
    case VGPU_MMA_F32:
        return (double)to_f32(raw);
    case VGPU_MMA_F64:
        return to_f64(raw);
    case VGPU_MMA_S8:
        return (int8_t)raw;
    case VGPU_MMA_S4:
        return (int)(raw ^ 8) - 8;
    case VGPU_MMA_E4M3:
        return small_float((uint32_t)raw, 4, 3);
    case VGPU_MMA_E5M2:
        return small_float((uint32_t)raw, 5, 2);
    case VGPU_MMA_S32:
        return (int32_t)raw;
    default:
        return (double)raw;
    }
}

static uint32_t whole_number(double sum, bool saturate)
{
    if (saturate && sum > INT32_MAX)
        return INT32_MAX;
    if (saturate && sum < INT32_MIN)
        return (uint32_t)INT32_MIN;
    return (uint32_t)(int64_t)sum;
}

static uint64_t written_number(const struct vgpu_mma *shape, double sum)
{
    switch (shape->d) {
    case VGPU_MMA_F16:
        return vgpu_ptx_narrow(VGPU_NARROW_F16, VGPU_ROUND_NEAREST, from_f64(sum));
    case VGPU_MMA_F64:
        return from_f64(sum);
    case VGPU_MMA_S32:
        return whole_number(sum, shape->saturate);
    default:
        return from_f32((float)sum);
    }
}

/* Element `index` of an array of numbers. */
static uint64_t element_at(const uint32_t *word, uint32_t index, uint32_t bits)
{
    if (bits == 64)
        return (uint64_t)word[2 * index + 1] << 32 | word[2 * index];
    uint32_t each = 32 / bits;
    return word[index / each] >> index % each * bits & (bits == 32 ? ~0u : (1u << bits) - 1);
}

static void set_element(uint32_t *word, uint32_t index, uint32_t bits, uint64_t value)
{
    if (bits == 64)
        word[2 * index] = (uint32_t)value, word[2 * index + 1] = (uint32_t)(value >> 32);
    else if (bits == 32)
        word[index] = (uint32_t)value;
    else
        word[index / 2] = (word[index / 2] & 0xffffu << 16 * (1 - index % 2)) |
                          (uint32_t)value << 16 * (index % 2);
}

/* ---- which lane has what ---- */

static uint32_t in_register(uint32_t bits)
{
    return bits >= 32 ? 1 : 32 / bits;
}

static const uint32_t *lane_words(const struct warp *warp, uint32_t lane)
{
    return ((const struct vgpu_mma_lane *)warp->threads[lane].warp_op.bits)->abc;
}

/* A matrix of tiles: of 16 rows, or of one of 8, whose registers are by pairs of rows. */
static void gather_a(struct product *p, uint32_t lane, const uint32_t *word)
{
    uint32_t type = p->shape.a, bits = mma_bits(type), each = in_register(bits);
    uint32_t k = p->shape.k, rows = p->shape.m < 16 ? 1 : 2, tile = rows * k / GROUP;
    for (uint32_t i = 0; i < p->shape.m * k / WARP_LANES; i++) {
        uint32_t r = i % tile / each;
        uint32_t row = i / tile * 16 + r % rows * TILE + lane / GROUP;
        uint32_t column = (r / rows * GROUP + lane % GROUP) * each + i % each;
        p->a[row][column] = mma_number(type, element_at(word, i, bits));
    }
}

static void gather_b(struct product *p, uint32_t lane, const uint32_t *word)
{
    uint32_t type = p->shape.b, bits = mma_bits(type), each = in_register(bits);
    uint32_t tile = p->shape.k / GROUP;
    for (uint32_t i = 0; i < p->shape.k * p->shape.n / WARP_LANES; i++) {
        uint32_t row = (i % tile / each * GROUP + lane % GROUP) * each + i % each;
        p->b[row][i / tile * TILE + lane / GROUP] = mma_number(type, element_at(word, i, bits));
    }
}

static double product_sum(const struct product *p, uint32_t row, uint32_t column, double sum)
{
    if (p->shape.a == VGPU_MMA_F64) {
        for (uint32_t i = 0; i < p->shape.k; i++)
            sum = fma(p->a[row][i], p->b[i][column], sum);
        return sum;
    }
    for (uint32_t i = 0; i < p->shape.k; i++)
        sum += p->a[row][i] * p->b[i][column]; /* the product is exact */
    return sum;
}

/* The accumulators' tiles are of 8 columns, those of the same rows one after the other. */
static void scatter(const struct product *p, uint32_t lane, const uint32_t *c, uint32_t *d)
{
    const struct vgpu_mma *shape = &p->shape;
    uint32_t tile = shape->m < 16 ? 2 : 4, across = shape->n / TILE;
    for (uint32_t i = 0; i < shape->m * shape->n / WARP_LANES; i++) {
        uint32_t t = i / tile;
        uint32_t row = t / across * 16 + i % tile / 2 * TILE + lane / GROUP;
        uint32_t column = t % across * TILE + lane % GROUP * 2 + i % 2;
        double sum = mma_number(shape->c, element_at(c, i, mma_bits(shape->c)));
        set_element(d, i, mma_bits(shape->d),
                    written_number(shape, product_sum(p, row, column, sum)));
    }
}

static uint32_t word_count(uint32_t rows, uint32_t columns, uint32_t type)
{
    return rows * columns / WARP_LANES * mma_bits(type) / 32;
}

void mma_product(struct warp *warp, uint32_t met)
{
    static struct product p;
    if (met != 0xffffffff) /* undefined: the results stay zero */
        return;
    p.shape = ((const struct vgpu_mma_lane *)warp->threads[0].warp_op.bits)->shape;
    const struct vgpu_mma *shape = &p.shape;
    uint32_t b = word_count(shape->m, shape->k, shape->a);
    uint32_t c = b + word_count(shape->k, shape->n, shape->b);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        gather_a(&p, lane, lane_words(warp, lane));
        gather_b(&p, lane, lane_words(warp, lane) + b);
    }
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        scatter(&p, lane, lane_words(warp, lane) + c,
                ((const struct vgpu_mma_lane *)warp->threads[lane].warp_op.bits)->d);
}

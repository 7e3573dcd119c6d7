/* SPDX-License-Identifier: MIT
 * ptx.c: arithmetic, special registers and warp operations of inline PTX, as PTX ISA 9.0 defines
 * them (chapters 9.7.1 to 9.7.3, 9.7.8, 9.7.13 and 10).
 */
#include <math.h>

#include "exec.h"
#include "float_bits.h"

/* ---- integers ---- */

static uint64_t cut_to(uint64_t value, uint32_t bits)
{
    return bits >= 64 ? value : value & ((1ull << bits) - 1);
}

static int64_t sign_extended(uint64_t value, uint32_t bits)
{
    uint64_t sign = 1ull << (bits - 1);
    return (int64_t)((cut_to(value, bits) ^ sign) - sign);
}

static uint64_t widened_value(enum vgpu_ptx_kind kind, uint64_t value, uint32_t bits)
{
    return kind == VGPU_PTX_SIGNED ? (uint64_t)sign_extended(value, bits) : cut_to(value, bits);
}

static uint64_t high_half(enum vgpu_ptx_kind kind, uint32_t bits, uint64_t a, uint64_t b)
{
    if (kind == VGPU_PTX_SIGNED)
        return (uint64_t)((__int128)sign_extended(a, bits) * sign_extended(b, bits) >> bits);
    return (uint64_t)((unsigned __int128)cut_to(a, bits) * cut_to(b, bits) >> bits);
}

/* Division by zero, and of the smallest number by -1, is undefined in PTX: it must not trap. */
static uint64_t quotient_of(enum vgpu_ptx_kind kind, uint32_t bits, uint64_t a, uint64_t b,
                            bool rest)
{
    a = widened_value(kind, a, bits), b = widened_value(kind, b, bits);
    if (b == 0)
        return rest ? a : ~0ull;
    if (kind != VGPU_PTX_SIGNED)
        return rest ? a % b : a / b;
    if (b == ~0ull)
        return rest ? 0 : -a;
    return (uint64_t)(rest ? (int64_t)a % (int64_t)b : (int64_t)a / (int64_t)b);
}

static bool is_less(enum vgpu_ptx_kind kind, uint32_t bits, uint64_t a, uint64_t b)
{
    return kind == VGPU_PTX_SIGNED ? sign_extended(a, bits) < sign_extended(b, bits)
                                   : cut_to(a, bits) < cut_to(b, bits);
}

static uint64_t shifted_right(enum vgpu_ptx_kind kind, uint32_t bits, uint64_t a, uint32_t by)
{
    if (kind == VGPU_PTX_SIGNED)
        return (uint64_t)(sign_extended(a, bits) >> (by < bits ? by : bits - 1));
    return by < bits ? cut_to(a, bits) >> by : 0;
}

/* The 32 bits of b:a from bit `by` on, counted from the left or the right. */
static uint64_t funnel_shifted(uint64_t a, uint64_t b, uint32_t by, bool left, bool clamp)
{
    uint64_t both = cut_to(b, 32) << 32 | cut_to(a, 32);
    by = clamp ? (by < 32 ? by : 32) : by & 31;
    return left ? both << by >> 32 : both >> by;
}

static uint64_t bit_field(enum vgpu_ptx_kind kind, uint32_t bits, uint64_t a, uint32_t at,
                          uint32_t count)
{
    at = at < bits ? at : bits;
    count = count < bits ? count : bits;
    uint32_t last = at + count - 1 < bits - 1 ? at + count - 1 : bits - 1;
    bool sign = kind == VGPU_PTX_SIGNED && count && (a >> last & 1);
    uint64_t value = at < bits ? cut_to(a, bits) >> at : 0;
    uint32_t own = at < bits ? bits - at : 0; /* bits of a from there on */
    uint32_t taken = count < own ? count : own;
    value = cut_to(value, taken);
    return sign && taken < 64 ? value | ~0ull << taken : value;
}

static uint64_t with_field(uint32_t bits, uint64_t a, uint64_t b, uint32_t at, uint32_t count)
{
    uint64_t mask = at < bits ? cut_to(~0ull, count) << at : 0;
    return (b & ~mask) | (at < bits ? a << at & mask : 0);
}

/* `count` set bits from bit `at` on. */
static uint64_t mask_of(uint32_t at, uint32_t count, bool clamp)
{
    if (!clamp)
        at &= 31, count &= 31;
    return at < 32 ? cut_to(~0ull, count < 32 ? count : 32) << at : 0;
}

static uint32_t permuted_bytes(uint64_t a, uint64_t b, uint32_t selector)
{
    uint64_t bytes = cut_to(b, 32) << 32 | cut_to(a, 32);
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t mode = selector >> 4 * i & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (mode & 7)) & 255;
        if (mode & 8)
            byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

static uint32_t of_table(uint64_t a, uint64_t b, uint64_t c, uint64_t table)
{
    uint32_t result = 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t row = (uint32_t)((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1));
        result |= (uint32_t)(table >> row & 1) << i;
    }
    return result;
}

static uint64_t reversed_bits(uint64_t a, uint32_t bits)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < bits; i++)
        result |= (a >> i & 1) << (bits - 1 - i);
    return result;
}

static uint64_t leading_zeros(uint64_t a, uint32_t bits)
{
    a = cut_to(a, bits);
    return a ? (uint64_t)__builtin_clzll(a) - (64 - bits) : bits;
}

static uint64_t last_found(enum vgpu_ptx_kind kind, uint64_t a, uint32_t bits)
{
    if (kind == VGPU_PTX_SIGNED && sign_extended(a, bits) < 0)
        a = ~a;
    return cut_to(bits - 1 - leading_zeros(a, bits), 32);
}

static uint64_t of_bits(enum vgpu_ptx_operation operation, enum vgpu_ptx_kind kind, uint32_t bits,
                        uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    switch (operation) {
    case VGPU_PTX_AND:
        return a & b;
    case VGPU_PTX_OR:
        return a | b;
    case VGPU_PTX_XOR:
        return a ^ b;
    case VGPU_PTX_NOT:
        return ~a;
    case VGPU_PTX_SHL:
        return (uint32_t)b < bits ? a << (uint32_t)b : 0;
    case VGPU_PTX_SHR:
        return shifted_right(kind, bits, a, (uint32_t)b);
    case VGPU_PTX_SHF_L_WRAP:
    case VGPU_PTX_SHF_L_CLAMP:
        return funnel_shifted(a, b, (uint32_t)c, true, operation == VGPU_PTX_SHF_L_CLAMP);
    case VGPU_PTX_SHF_R_WRAP:
    case VGPU_PTX_SHF_R_CLAMP:
        return funnel_shifted(a, b, (uint32_t)c, false, operation == VGPU_PTX_SHF_R_CLAMP);
    case VGPU_PTX_BFE:
        /* In 64 bits an H100 takes all of b and c; PTX's guide says the lowest 8 bits of each. */
        return bits == 64 ? bit_field(kind, bits, a, (uint32_t)b, (uint32_t)c)
                          : bit_field(kind, bits, a, b & 255, c & 255);
    case VGPU_PTX_BFI:
        return with_field(bits, a, b, c & 255, d & 255);
    case VGPU_PTX_BMSK_WRAP:
    case VGPU_PTX_BMSK_CLAMP:
        return mask_of((uint32_t)a, (uint32_t)b, operation == VGPU_PTX_BMSK_CLAMP);
    case VGPU_PTX_PRMT:
        return permuted_bytes(a, b, (uint32_t)c);
    case VGPU_PTX_LOP3:
        return of_table(a, b, c, d);
    case VGPU_PTX_POPC:
        return (uint64_t)__builtin_popcountll(cut_to(a, bits));
    case VGPU_PTX_CLZ:
        return leading_zeros(a, bits);
    case VGPU_PTX_BREV:
        return reversed_bits(a, bits);
    default:
        return last_found(kind, a, bits);
    }
}

static uint64_t of_integers(enum vgpu_ptx_operation operation, enum vgpu_ptx_kind kind,
                            uint32_t bits, uint64_t a, uint64_t b, uint64_t c)
{
    switch (operation) {
    case VGPU_PTX_ADD:
        return a + b;
    case VGPU_PTX_SUB:
        return a - b;
    case VGPU_PTX_MUL:
        return a * b;
    case VGPU_PTX_MUL_HI:
        return high_half(kind, bits, a, b);
    case VGPU_PTX_MUL_WIDE:
        return widened_value(kind, a, bits) * widened_value(kind, b, bits);
    case VGPU_PTX_MAD:
        return a * b + c;
    case VGPU_PTX_MAD_HI:
        return high_half(kind, bits, a, b) + c;
    case VGPU_PTX_MAD_WIDE:
        return widened_value(kind, a, bits) * widened_value(kind, b, bits) + c;
    case VGPU_PTX_DIV:
    case VGPU_PTX_REM:
        return quotient_of(kind, bits, a, b, operation == VGPU_PTX_REM);
    case VGPU_PTX_MIN:
        return is_less(kind, bits, b, a) ? b : a;
    case VGPU_PTX_MAX:
        return is_less(kind, bits, a, b) ? b : a;
    case VGPU_PTX_NEG:
        return -a;
    default: /* abs */
        return sign_extended(a, bits) < 0 ? -a : a;
    }
}

static bool comparison_holds(enum vgpu_ptx_operation operation, bool less, bool equal, bool greater)
{
    switch (operation) {
    case VGPU_PTX_EQ:
        return equal;
    case VGPU_PTX_NE:
        return less || greater;
    case VGPU_PTX_LT:
        return less;
    case VGPU_PTX_LE:
        return less || equal;
    case VGPU_PTX_GT:
        return greater;
    default:
        return greater || equal;
    }
}

/* ---- floating point ---- */

/* f32 arithmetic returns a single NaN. */
static uint64_t of_one_nan(float value)
{
    return value != value ? 0x7fffffff : from_f32(value);
}

/* -0 compares less than +0. */
#define OF_FLOATS(type, name, fma_function, min_function, max_function)                            \
    static type name(enum vgpu_ptx_operation operation, type a, type b, type c)                    \
    {                                                                                              \
        bool zeros = a == 0 && b == 0;                                                             \
        switch (operation) {                                                                       \
        case VGPU_PTX_ADD:                                                                         \
            return a + b;                                                                          \
        case VGPU_PTX_SUB:                                                                         \
            return a - b;                                                                          \
        case VGPU_PTX_MUL:                                                                         \
            return a * b;                                                                          \
        case VGPU_PTX_DIV:                                                                         \
            return a / b;                                                                          \
        case VGPU_PTX_FMA:                                                                         \
            return fma_function(a, b, c);                                                          \
        case VGPU_PTX_MIN:                                                                         \
            return zeros ? (signbit(a) ? a : b) : min_function(a, b);                              \
        case VGPU_PTX_MAX:                                                                         \
            return zeros ? (signbit(a) ? b : a) : max_function(a, b);                              \
        case VGPU_PTX_NEG:                                                                         \
            return -a;                                                                             \
        default:                                                                                   \
            return signbit(a) ? -a : a;                                                            \
        }                                                                                          \
    }
OF_FLOATS(float, of_f32, fmaf, fminf, fmaxf)
OF_FLOATS(double, of_f64, fma, fmin, fmax)

static uint64_t of_floats(enum vgpu_ptx_operation operation, uint32_t bits, uint64_t a, uint64_t b,
                          uint64_t c)
{
    double x = bits == 32 ? to_f32(a) : to_f64(a), y = bits == 32 ? to_f32(b) : to_f64(b);
    if (operation >= VGPU_PTX_EQ)
        return comparison_holds(operation, x<y, x == y, x> y);
    if (bits == 32)
        return of_one_nan(of_f32(operation, to_f32(a), to_f32(b), to_f32(c)));
    return from_f64(of_f64(operation, x, y, to_f64(c)));
}

/* fns: from bit `base` on, the set bit of number |offset|, upwards or downwards; ~0: none. An H200
 * has 0 for the lowest offset, whatever the mask. */
static uint32_t set_bit_found(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == INT32_MIN)
        return 0;
    int64_t left = offset < 0 ? -(int64_t)offset : offset;
    for (int64_t at = base; at >= 0 && at < 32; at += offset < 0 ? -1 : 1) {
        left -= left == 0 || mask >> at & 1;
        if (left <= 0)
            return left == 0 || mask >> at & 1 ? (uint32_t)at : UINT32_MAX;
    }
    return UINT32_MAX;
}

OFFERED uint64_t vgpu_ptx(enum vgpu_ptx_operation operation, enum vgpu_ptx_kind kind, uint32_t bits,
                          uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    if (kind == VGPU_PTX_FLOAT)
        return of_floats(operation, bits, a, b, c);
    if (operation == VGPU_PTX_FNS)
        return set_bit_found((uint32_t)a, (uint32_t)b, (int32_t)c);
    if (operation >= VGPU_PTX_EQ)
        return comparison_holds(operation, is_less(kind, bits, a, b), cut_to(a ^ b, bits) == 0,
                                is_less(kind, bits, b, a));
    if (operation >= VGPU_PTX_AND)
        return of_bits(operation, kind, bits, a, b, c, d);
    return of_integers(operation, kind, bits, a, b, c);
}

/* ---- special registers ---- */

static uint32_t part_of(struct vgpu_dim3 all, uint32_t which)
{
    return which == 0 ? all.x : which == 1 ? all.y : all.z;
}

OFFERED uint32_t vgpu_ptx_register(enum vgpu_ptx_register which)
{
    const struct thread *thread = now.thread;
    uint32_t bit = thread->bit;
    if (which < VGPU_PTX_NTID)
        return part_of(thread->idx, which - VGPU_PTX_TID);
    if (which < VGPU_PTX_CTAID)
        return part_of(now.run->shape, which - VGPU_PTX_NTID);
    if (which < VGPU_PTX_NCTAID)
        return part_of(now.block->idx, which - VGPU_PTX_CTAID);
    if (which < VGPU_PTX_WARPID)
        return part_of(now.run->grid, which - VGPU_PTX_NCTAID);
    switch (which) {
    case VGPU_PTX_WARPID:
        return thread->number / WARP_LANES;
    case VGPU_PTX_NWARPID:
        return MAX_BLOCK_WARPS;
    case VGPU_PTX_LANEMASK_EQ:
        return bit;
    case VGPU_PTX_LANEMASK_LT:
        return bit - 1;
    case VGPU_PTX_LANEMASK_LE:
        return bit | (bit - 1);
    case VGPU_PTX_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case VGPU_PTX_SMID: /* blocks are dealt to the processors in turn */
        return (uint32_t)(now.block->number % context.limits.sm_count);
    case VGPU_PTX_NSMID:
        return context.limits.sm_count;
    case VGPU_PTX_DYNAMIC_SHARED:
        return now.run->shared_bytes;
    default:
        return ~(bit - 1);
    }
}

/* ---- warp operations ---- */

OFFERED uint64_t vgpu_ptx_shfl(enum vgpu_shfl kind, uint32_t mask, uint32_t value, uint32_t b,
                               uint32_t c, const char *site)
{
    uint32_t lane = now.thread->number % WARP_LANES, segment = c >> 8 & 31, by = b & 31;
    uint32_t last = (lane & segment) | (c & 31 & ~segment);
    uint32_t from = (lane & segment) | (by & ~segment);
    if (kind == VGPU_SHFL_UP)
        from = lane - by;
    else if (kind == VGPU_SHFL_DOWN)
        from = lane + by;
    else if (kind == VGPU_SHFL_XOR)
        from = lane ^ by;
    bool valid = kind == VGPU_SHFL_UP ? (int32_t)from >= (int32_t)last : from <= last;
    uint64_t found =
        vgpu_shfl(VGPU_SHFL_IDX, mask, value, (int)(valid ? from : lane), WARP_LANES, site);
    return (uint32_t)found | (uint64_t)valid << 32;
}

OFFERED uint64_t vgpu_ptx_elect(uint32_t mask, const char *site)
{
    vgpu_syncwarp(mask, site);
    uint32_t leader = mask ? (uint32_t)__builtin_ctz(mask) : 0;
    return leader | (uint64_t)(now.thread->number % WARP_LANES == leader) << 32;
}

OFFERED uint32_t vgpu_ptx_match(int all, uint32_t mask, uint64_t value, const char *site)
{
    uint32_t same = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        if (mask >> lane & 1 &&
            vgpu_shfl(VGPU_SHFL_IDX, mask, value, (int)lane, WARP_LANES, site) == value)
            same |= 1u << lane;
    return !all || same == mask ? same : 0;
}

OFFERED uint32_t vgpu_ptx_redux(enum vgpu_ptx_operation operation, enum vgpu_ptx_kind kind,
                                uint32_t mask, uint32_t value, const char *site)
{
    uint64_t result = 0;
    bool first = true;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        uint64_t other = vgpu_shfl(VGPU_SHFL_IDX, mask, value, (int)lane, WARP_LANES, site);
        result = first ? other : vgpu_ptx(operation, kind, 32, result, other, 0, 0);
        first = false;
    }
    return (uint32_t)result;
}

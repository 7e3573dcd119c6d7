/* SPDX-License-Identifier: MIT
 * kernels_plain.c: test kernels whose threads do not wait for each other.
 */
#include "kernels.h"

/* fill(p, n, v): p[i] = v + i */
KERNEL(fill)
{
    UNUSED(d);
    uint32_t *p = (uint32_t *)a, i = global_id();
    if (i < b)
        p[i] = (uint32_t)c + i;
}

/* read_write(from, to, n): one load and one store of 4 bytes a thread */
KERNEL(read_write)
{
    UNUSED(d);
    uint32_t i = global_id();
    if (i < c)
        ((uint32_t *)b)[i] = ((const uint32_t *)a)[i];
}

/* load(from, to): thread 5 of the last block only */
KERNEL(load)
{
    UNUSED(c), UNUSED(d);
    if (tid() == 5 && vgpu_block_idx().x == vgpu_grid_dim().x - 1)
        *(uint32_t *)b = *(const uint32_t *)a;
}

/* store(to, value) */
KERNEL(store)
{
    UNUSED(c), UNUSED(d);
    if (global_id() == 0)
        *(uint32_t *)a = (uint32_t)b;
}

typedef float four __attribute__((vector_size(16)));

KERNEL(wide)
{
    UNUSED(c), UNUSED(d);
    *(four *)b = *(const four *)a;
}

static __attribute__((noinline)) uint64_t down(volatile uint64_t *p, uint64_t n)
{
    volatile uint64_t local[8] = {n};
    return n == 0 ? *p : down(p, n - 1) + local[0];
}

/* recurse(out, depth): out = 1 + 2 + ... + depth (out holds 0) */
KERNEL(recurse)
{
    UNUSED(c), UNUSED(d);
    *(uint64_t *)a = down((uint64_t *)a, b);
}

static __attribute__((noinline)) void touch(volatile char *frame, uint64_t at)
{
    frame[at] = 1;
}

KERNEL(big_frame)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    volatile char frame[1 << 20];
    touch(frame, a);
    touch(frame, sizeof frame - 1 - a);
}

KERNEL(trap)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    if (tid() == 3)
        vgpu_trap();
    ((uint32_t *)a)[tid()] = 1;
}

KERNEL(failing_assert)
{
    UNUSED(a), UNUSED(b), UNUSED(c), UNUSED(d);
    struct vgpu_dim3 t = vgpu_thread_idx();
    if (t.x == 1 && t.y == 2)
        vgpu_assert_fail("t.x != 1", "lab.cu", 42, "void failing_assert()");
}

/* divide(out, x, by): quotient and remainder, of 32 and of 64 bits */
KERNEL(divide)
{
    UNUSED(d);
    int32_t *out = (int32_t *)a;
    int64_t *wide = (int64_t *)(a + 16);
    volatile int64_t by = (int64_t)c;
    out[0] = (int32_t)b / (int32_t)c;
    out[1] = (int32_t)b % (int32_t)c;
    wide[0] = (int64_t)b / by;
    wide[1] = (int64_t)b % (int64_t)c;
}

/* where_am_i(out): out[flat global] = packed block and thread index */
KERNEL(where_am_i)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    struct vgpu_dim3 t = vgpu_thread_idx(), k = vgpu_block_idx(), n = vgpu_block_dim(),
                     g = vgpu_grid_dim();
    uint64_t block = ((uint64_t)k.z * g.y + k.y) * g.x + k.x;
    ((uint64_t *)a)[block * n.x * n.y * n.z + flat_tid()] =
        (uint64_t)k.z << 40 | (uint64_t)k.y << 32 | k.x << 24 | t.z << 16 | t.y << 8 | t.x;
}

struct chunk {
    uint64_t word[24];
};

/* copies(from, to): a struct of 192 bytes, and a memcpy */
KERNEL(copies)
{
    UNUSED(d);
    *(struct chunk *)b = *(const struct chunk *)a;
    __builtin_memcpy((char *)b + 192, (const char *)a, c);
}

static uint32_t before[1] __attribute__((section(VGPU_DEVICE_VAR_SECTION), aligned(4096))) = {1};
uint32_t counter __attribute__((section(VGPU_DEVICE_VAR_SECTION))) = 7;
uint32_t table[64] __attribute__((section(VGPU_DEVICE_VAR_SECTION))) = {10, 20, 30};
static char after[4096] __attribute__((section(VGPU_DEVICE_VAR_SECTION), aligned(4096))) = {1};

/* variables(out): out[0] = counter, out[1] = table[2]; counter += 1 */
KERNEL(variables)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *out = (uint32_t *)a;
    out[0] = counter;
    out[1] = table[2];
    counter += before[0];
    table[63] = (uint32_t)after[0];
}

/* endless(p): loops over plain stores for ever */
KERNEL(endless)
{
    UNUSED(c), UNUSED(d);
    for (uint64_t i = 0; i != b; i += 2)
        ((uint32_t *)a)[i % 64] = (uint32_t)i;
}

KERNEL(print)
{
    UNUSED(d);
    if (tid() < a)
        vgpu_printf("thread %u of %d: %s %5.2f\n", tid(), (int)vgpu_block_dim().x,
                    b ? (const char *)b : "text", (double)c / 4);
}

KERNEL(flood)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    for (uint64_t i = 0; i < a; i++)
        vgpu_printf("line %07llu of a flood of lines\n", (unsigned long long)i);
}

/* atomics(p): every thread applies each operation to a cell of its own kind */
KERNEL(atomics)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *p = (uint32_t *)a;
    uint64_t *q = (uint64_t *)(a + 256);
    uint32_t i = tid();
    float one = 0.5f;
    double two = 0.25;
    uint32_t one_bits;
    uint64_t two_bits;
    __builtin_memcpy(&one_bits, &one, 4);
    __builtin_memcpy(&two_bits, &two, 8);
    vgpu_atomic(VGPU_ATOMIC_ADD, VGPU_I32, &p[0], i, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_SUB, VGPU_U32, &p[1], 2, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_MIN, VGPU_I32, &p[2], (uint32_t) - (int32_t)i, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_MAX, VGPU_U32, &p[3], i, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_INC, VGPU_U32, &p[4], 9, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_DEC, VGPU_U32, &p[5], 9, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_AND, VGPU_U32, &p[6], ~(1u << i % 32), 0, 1);
    vgpu_atomic(VGPU_ATOMIC_OR, VGPU_U32, &p[7], 1u << i % 32, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_XOR, VGPU_U32, &p[8], i, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_ADD, VGPU_F32, &p[9], one_bits, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_EXCH, VGPU_U32, &p[10], i, 0, 1);
    p[16 + i] = (uint32_t)vgpu_atomic(VGPU_ATOMIC_CAS, VGPU_U32, &p[11], 77 + i, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_ADD, VGPU_U64, &q[0], 1ull << 33, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_ADD, VGPU_F64, &q[1], two_bits, 0, 1);
    vgpu_atomic(VGPU_ATOMIC_MIN, VGPU_I64, &q[2], (uint64_t) - (int64_t)i, 0, 1);
}

/* stream(a, b, n): b[i] += a[i], for the benchmark */
KERNEL(stream)
{
    UNUSED(d);
    const uint32_t *from = (const uint32_t *)a;
    uint32_t *to = (uint32_t *)b;
    uint32_t step = vgpu_grid_dim().x * vgpu_block_dim().x;
    for (uint64_t i = global_id(); i < c; i += step)
        to[i] += from[i];
}

KERNEL(empty)
{
    UNUSED(a), UNUSED(b), UNUSED(c), UNUSED(d);
}

struct odd {
    char c[7];
};

static void mixed(char one, struct odd seven, double eight, uint16_t *out)
{
    out[tid()] = (uint16_t)(one + seven.c[6] + (int)eight);
}

__attribute__((no_sanitize("thread"))) void call_mixed(void **v)
{
    mixed(*(char *)v[0], *(struct odd *)v[1], *(double *)v[2], *(uint16_t **)v[3]);
}

/* SPDX-License-Identifier: MIT
 * kernels_share.c: an image of its own: kernels whose blocks know nothing of each other, without an
 * atomic, a volatile access, a clock or printf. Each meets something late in its grid. Beside them
 * two with atomics.
 */
#include "kernels.h"

#define EXPORTED __attribute__((visibility("default")))

static const uint32_t four_words[] = {8, 8, 8, 8};

/* tree(in, out, late): one sum a block, plus a division by zero in block `late` */
KERNEL(tree)
{
    UNUSED(d);
    uint32_t *s = vgpu_shared(5, 4096, 4);
    uint32_t i = tid(), at = global_id(), block = vgpu_block_idx().x;
    s[i] = ((const uint32_t *)a)[at % 65536] * (block + 1);
    SYNC();
    for (uint32_t half = vgpu_block_dim().x / 2; half > 0; half /= 2) {
        if (i < half)
            s[i] += s[i + half];
        SYNC();
    }
    if (i == 0)
        ((uint32_t *)b)[block] = s[0];
    if (i == 0 && block == c)
        ((uint32_t *)b)[block] = s[0] / (uint32_t)d;
}

/* stray(in, out, late): all blocks from `late` on store to nobody's memory */
KERNEL(stray)
{
    UNUSED(d);
    uint32_t block = vgpu_block_idx().x, *p = (uint32_t *)b + block;
    if (block >= c && tid() == 3)
        p = (uint32_t *)(uintptr_t)(4096 + 4 * block);
    for (uint32_t i = 0; i < 64; i++)
        *p = ((const uint32_t *)a)[(block + i) % 65536];
}

/* stuck(in, out, late): block `late` never ends */
KERNEL(stuck)
{
    UNUSED(d);
    uint32_t block = vgpu_block_idx().x;
    uint32_t sum = 0, end = block == c ? 0 : 64;
    for (uint32_t i = 1; i != end; i += end ? 1 : 2)
        ((uint32_t *)b)[block] = sum += ((const uint32_t *)a)[i % 65536];
}

/* count(out): the blocks, by an atomic */
KERNEL(count)
{
    UNUSED(a + c + d);
    vgpu_atomic(VGPU_ATOMIC_ADD, VGPU_U32, (void *)b, 1, 0, 1);
}

/* sums(in, out, blocks): each `blocks` blocks have one sum. The first block takes some
 * milliseconds, so that others could take part before the second begins. */
KERNEL(sums)
{
    UNUSED(d);
    uint32_t block = vgpu_block_idx().x, sum = 0, *to = (uint32_t *)b + block / c;
    for (uint32_t i = 0; i < (block == 0 ? 20000 : 1); i++)
        sum += ((const uint32_t *)a)[(global_id() + i) % 65536];
    vgpu_atomic(VGPU_ATOMIC_ADD, VGPU_U32, to, sum, 0, 1 | VGPU_UNUSED);
}

#define ENTRY(number, name, any_order, summed, others)                                             \
    {                                                                                              \
        "share#" #name, number, #name, call_##name, 4, any_order, four_words, 0, 1024, 0, 0,       \
            summed, others                                                                         \
    }

EXPORTED const uint32_t vgpu_image_abi = VGPU_IMAGE_ABI;
EXPORTED const struct vgpu_kernel vgpu_image_kernels[] = {
    ENTRY(0, tree, 1, 0, 0), ENTRY(1, stray, 1, 0, 0), ENTRY(2, stuck, 1, 0, 0),
    ENTRY(3, count, 0, 0, 0), ENTRY(4, sums, 0, 2, 1)};
EXPORTED const uint32_t vgpu_image_kernel_count = 5;
EXPORTED const struct vgpu_var vgpu_image_vars[] = {{"", 0, 0}};
EXPORTED const uint32_t vgpu_image_var_count = 0;

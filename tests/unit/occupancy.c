/* SPDX-License-Identifier: MIT
 * occupancy.c: how many blocks an SM holds at once, by hand.
 */
#include "occupancy.h"
#include "unit.h"

static const struct vgpu_sm h200 = {2048, 32, 233472, 9}, v100 = {2048, 32, 98304, 7};

static const struct {
    const struct vgpu_sm *sm;
    uint64_t threads, shared, blocks;
} cases[] = {
    {&h200, 1024, 0, 2},     /* threads */
    {&h200, 1, 0, 32},       /* block slots: 2048 / 32 threads would be 64 */
    {&h200, 65, 0, 21},      /* whole warps: 96 threads */
    {&h200, 65, 10000, 20},  /* 10000 + 1024 bytes are 87 pieces of 128 */
    {&h200, 32, 232448, 1},  /* all of it but the system's part */
    {&h200, 32, 232449, 0},  /* more than there is */
    {&v100, 1024, 49152, 2}, /* before 8.0 the system takes nothing of a block's */
};

UNIT(blocks_an_sm_holds)
{
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t blocks = vgpu_blocks_per_sm(cases[i].sm, cases[i].threads, cases[i].shared);
        EXPECT(blocks == cases[i].blocks, "case %u: %llu blocks", i, (unsigned long long)blocks);
    }
}

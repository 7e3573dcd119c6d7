/* SPDX-License-Identifier: MIT
 * test_sync.c: barriers, warps and shared memory.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

static void zero(struct rig *rig, uint64_t bytes)
{
    memset(rig->memory[0], 0, bytes);
    rig->control->chunk[0][0] = 1;
}

static void shared_memory(struct rig *rig)
{
    struct shape shape = {{1}, {32}, 128};
    CHECK(rig_run(rig, K_shared_poison, GRID(4, 64), OWN, 0, 0), VGPU_RAN);
    for (int i = 0; i < 4; i++)
        CHECK(rig_words(rig, 0)[i], 0xCBCBCBCB);
    CHECK(rig->reply.counts.read_bytes[0], 0);
    CHECK(rig_run(rig, K_shared_dynamic, shape, OWN, 0, 0), VGPU_RAN);
    for (uint32_t i = 0; i < 32; i++)
        CHECK(rig_words(rig, 0)[i], 2 * (31 - i) + 100);
    CHECK(rig_run(rig, K_shared_huge, ONE(1), OWN, 0, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_MEMORY);
    CHECK_TEXT(rig->reply.text, "307200");
    CHECK(rig_run(rig, K_shared_beyond, ONE(1), OWN, 1 << 16, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_ADDRESS);
    CHECK_TEXT(rig->reply.text, "shared memory");
}

static void reduction(struct rig *rig)
{
    CHECK(rig_run(rig, K_fill, GRID(100, 256), OWN, 25000, 1), VGPU_RAN);
    CHECK(rig_run(rig, K_reduce, GRID(98, 256), OWN, OWN + VGPU_CHUNK_BYTES, 25000), VGPU_RAN);
    uint64_t sum = 0;
    for (int i = 0; i < 98; i++)
        sum += rig_words(rig, VGPU_CHUNK_BYTES)[i];
    CHECK(sum, 25000ull * 25001 / 2);
    CHECK(rig->reply.counts.read_bytes[0], 100000);
    CHECK(rig->reply.counts.barriers, 98 * 9);
    CHECK(rig->reply.text[0], 0);
}

static void full_block(struct rig *rig)
{
    static const struct shape shapes[] = {
        {{1}, {1024}, 0}, {{1}, {16, 8, 8}, 0}, {{1}, {33}, 0}, {{1}, {1}, 0}, {{1}, {1000}, 0}};
    for (unsigned s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const struct shape *shape = &shapes[s];
        uint32_t n = shape->block[0] * (shape->block[1] ? shape->block[1] : 1) *
                     (shape->block[2] ? shape->block[2] : 1);
        CHECK(rig_run(rig, K_fill, ONE(1024), OWN, n, 0), VGPU_RAN);
        CHECK(rig_run(rig, K_rotate, *shape, OWN, 17, 0), VGPU_RAN);
        for (uint32_t i = 0; i < n; i++)
            CHECK(rig_words(rig, 0)[i], (i + 17) % n);
    }
}

static void divergent_barrier(struct rig *rig)
{
    CHECK(rig_run(rig, K_divergent, GRID(3, 64), OWN, 0, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[63], 1);
    CHECK_TEXT(rig->reply.text, "lab.cu:10");
    CHECK_TEXT(rig->reply.text, "lab.cu:20");
    CHECK(strchr(rig->reply.text, '\n') == NULL, 1);
}

static void early_exit(struct rig *rig)
{
    zero(rig, 4096);
    CHECK(rig_run(rig, K_early_exit, ONE(100), OWN, 40, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[39], 1);
    CHECK(rig_words(rig, 0)[40], 0);
    CHECK_TEXT(rig->reply.text, "60 of 100 threads");
}

static void reducing_barriers(struct rig *rig)
{
    CHECK(rig_run(rig, K_counted, ONE(100), OWN, 0, 0), VGPU_RAN);
    for (int i = 0; i < 100; i++)
        CHECK(rig_words(rig, 0)[i], 34 << 16 | 6);
}

static void barrier_deadlock(struct rig *rig)
{
    CHECK(rig_run(rig, K_deadlock, ONE(64), 0, 0, 0), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_BARRIER);
    CHECK_TEXT(rig->reply.fault.where, "lab.cu:30");
    CHECK_TEXT(rig->reply.text, "32 threads (first: (0,0,0)) wait at __syncthreads in lab.cu:30");
    CHECK_TEXT(rig->reply.text, "32 threads (first: (16,0,0)) wait at a warp operation (mask "
                                "0xffffffff) in lab.cu:40");
    CHECK(rig_run(rig, K_rotate, ONE(64), OWN, 3, 0), VGPU_RAN);
}

static void shuffle_kinds(struct rig *rig)
{
    CHECK(rig_run(rig, K_shuffles, ONE(64), OWN, 0, 0), VGPU_RAN);
    const uint32_t *out = rig_words(rig, 0);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t base = 100 + i / 32 * 32, lane = i % 32;
        CHECK(out[i], base + (lane + 1) % 32);
        CHECK(out[64 + i], base + (lane % 8 ? lane - 1 : lane));
        CHECK(out[128 + i], base + (lane < 29 ? lane + 3 : lane));
        CHECK(out[192 + i], base + (lane ^ 5));
    }
    CHECK(out[256], 32 * 100 + 496);
    CHECK(out[256 + 32], 32 * 132 + 496);
    CHECK(rig->reply.text[0], 0);
}

static void vote_kinds(struct rig *rig)
{
    CHECK(rig_run(rig, K_votes, ONE(48), OWN, 0, 0), VGPU_RAN);
    const uint32_t *out = rig_words(rig, 0);
    CHECK(out[0], 0x11111111 ^ 1 << 1);
    CHECK(out[47], 0x1111 ^ 1 << 2);
    uint32_t odd_thirds[2] = {0, 0};
    for (uint32_t i = 1; i < 48; i += 2)
        odd_thirds[i / 32] |= (uint32_t)(i % 3 == 0) << i % 32;
    CHECK(out[64 + 1], odd_thirds[0]);
    CHECK(out[64 + 47], odd_thirds[1]);
    CHECK(out[64 + 2], 7);
}

static void mask_findings(struct rig *rig)
{
    CHECK(rig_run(rig, K_outside_mask, ONE(32), OWN, 0, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[6], 7);
    CHECK_TEXT(rig->reply.text, "mask 0x00000000");
    CHECK(rig_run(rig, K_half_warps, ONE(64), OWN, 0, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[16], 0xffff0000);
    CHECK(rig_words(rig, 0)[63], 0xffff0000);
    CHECK(rig_run(rig, K_active, ONE(32), OWN, 0, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[0], 0x49249249);
    CHECK(rig_words(rig, 0)[1], 7);
}

/* A missing __syncwarp shows in some lane order: forward here, reverse in a context of its own. */
static void missing_syncwarp(struct rig *rig)
{
    struct rig other = {0};
    CHECK(rig_run(rig, K_lockstep, ONE(32), OWN, 1, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[3], 28);
    CHECK(rig_run(rig, K_lockstep, ONE(32), OWN, 0, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[3], 0xCBCBCBCB);
    CHECK(rig_words(rig, 0)[20], 11);
    setenv("VGPU_LANES", "reverse", 1);
    rig_start(&other);
    rig_map(&other, 0, RIG_MEMORY, true);
    CHECK(rig_run(&other, K_lockstep, ONE(32), OWN, 0, 0), VGPU_RAN);
    CHECK(rig_words(&other, 0)[3], 28);
    CHECK(rig_words(&other, 0)[20], 0xCBCBCBCB);
    rig_stop(&other);
    unsetenv("VGPU_LANES");
}

static void seeded_lanes(struct rig *rig)
{
    (void)rig;
    static const char *const orders[] = {"seeded:1", "seeded:77", "reverse"};
    for (int i = 0; i < 3; i++) {
        struct rig other = {0};
        setenv("VGPU_LANES", orders[i], 1);
        rig_start(&other);
        rig_map(&other, 0, RIG_MEMORY, true);
        full_block(&other);
        reduction(&other);
        shuffle_kinds(&other);
        CHECK(rig_stop(&other), 0);
    }
    unsetenv("VGPU_LANES");
}

const struct test_case sync_cases[] = {{"shared_memory", shared_memory},
                                       {"reduction", reduction},
                                       {"full_block", full_block},
                                       {"divergent_barrier", divergent_barrier},
                                       {"early_exit", early_exit},
                                       {"reducing_barriers", reducing_barriers},
                                       {"barrier_deadlock", barrier_deadlock},
                                       {"shuffle_kinds", shuffle_kinds},
                                       {"vote_kinds", vote_kinds},
                                       {"mask_findings", mask_findings},
                                       {"missing_syncwarp", missing_syncwarp},
                                       {"seeded_lanes", seeded_lanes},
                                       {0}};

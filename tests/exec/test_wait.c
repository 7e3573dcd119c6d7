/* SPDX-License-Identifier: MIT
 * test_wait.c: threads that spin: on each other, on other blocks, on other kernels, on the clock.
 */
#include "test.h"

#include <string.h>

static void zero(struct rig *rig, uint64_t bytes)
{
    memset(rig->memory[0], 0, bytes);
    rig->control->chunk[0][0] = 1;
}

static void between_blocks(struct rig *rig)
{
    zero(rig, 4096);
    CHECK(rig_run(rig, K_block_flag, GRID(2, 64), OWN, OWN + 256, 0), VGPU_RAN);
    CHECK(rig_words(rig, 256)[63], 9);
}

static void barrier_of_grid(struct rig *rig)
{
    zero(rig, 1 << 20);
    CHECK(rig_run(rig, K_grid_barrier, GRID(264, 64), OWN, OWN + 4096, 3), VGPU_RAN);
    CHECK(rig_words(rig, 0)[0], 264 * 3);
    for (int i = 0; i < 264 * 64; i++)
        CHECK(rig_words(rig, 4096)[i], 3);
}

/* More blocks than a GPU holds cannot meet: here as on hardware. */
static void too_many_blocks(struct rig *rig)
{
    zero(rig, 1 << 20);
    CHECK(rig_run(rig, K_grid_barrier, GRID(132 * 2 + 1, 1024), OWN, OWN + 4096, 1), VGPU_STALLED);
    CHECK(rig->reply.moved, 1);
    CHECK_TEXT(rig->reply.text, "1 blocks wait until one of these 264 has ended");
    CHECK(rig_resume(rig, 1), VGPU_STALLED);
    CHECK(rig->reply.moved, 0);
    struct vgpu_exec_request request = {.op = VGPU_EXEC_ABORT, .run = 1};
    rig_ask(rig, &request, NULL, 0, NULL, 0);
    CHECK(rig->reply.status, VGPU_OK);
    CHECK(rig_run(rig, K_rotate, ONE(1024), OWN, 3, 0), VGPU_RAN);
}

static void small_gpu(struct rig *rig)
{
    struct rig small = {.limits = {.sm_count = 2, .blocks_per_sm = 1}};
    (void)rig;
    rig_start(&small);
    rig_map(&small, 0, RIG_MEMORY, true);
    zero(&small, 4096);
    CHECK(rig_run(&small, K_grid_barrier, GRID(2, 32), OWN, OWN + 64, 2), VGPU_RAN);
    zero(&small, 4096);
    CHECK(rig_run(&small, K_grid_barrier, GRID(3, 32), OWN, OWN + 64, 2), VGPU_STALLED);
    rig_stop(&small);
}

/* From compute capability 8.0 on the system takes 1 KiB of each block's shared memory, and two
 * blocks of 48 KiB no longer fit into 96 KiB. */
static void shared_of_older_gpus(struct rig *rig)
{
    (void)rig;
    for (uint32_t major = 7; major <= 8; major++) {
        struct rig gpu = {.limits = {.sm_count = 2, .cc_major = major, .shared_per_sm = 98304}};
        struct shape shape = {.grid = {4, 1, 1}, .block = {32, 1, 1}, .shared = 49152};
        rig_start(&gpu);
        rig_map(&gpu, 0, RIG_MEMORY, true);
        zero(&gpu, 4096);
        int status = rig_run(&gpu, K_grid_barrier, shape, OWN, OWN + 64, 2);
        CHECK(status, major < 8 ? VGPU_RAN : VGPU_STALLED);
        rig_stop(&gpu);
    }
}

/* Two kernels of one GPU, and the node, wake each other. */
static void between_kernels(struct rig *rig)
{
    struct vgpu_run_counts before;
    zero(rig, 4096);
    CHECK(rig_run_as(rig, 11, K_wait_flag, GRID(3, 32), OWN, 5, OWN + 64), VGPU_STALLED);
    CHECK_TEXT(rig->reply.text, "for a change of 0x200000000000 (now 0x0)");
    CHECK_TEXT(rig->reply.text, "wait_flag");
    before = rig->reply.counts;
    CHECK(rig_run_as(rig, 12, K_wait_flag, ONE(1), OWN, 6, OWN + 68), VGPU_STALLED);
    CHECK(rig_resume(rig, 11), VGPU_STALLED);
    CHECK(rig->reply.moved, 0);
    CHECK(rig_run_as(rig, 13, K_store, ONE(1), OWN, 6, 0), VGPU_RAN);
    CHECK(rig_resume(rig, 11), VGPU_STALLED);
    CHECK(rig->reply.moved, 1);
    CHECK(rig_resume(rig, 12), VGPU_RAN);
    CHECK(rig_words(rig, 64)[1], 6);
    rig_words(rig, 0)[0] = 5;
    CHECK(rig_resume(rig, 11), VGPU_RAN);
    CHECK(rig_words(rig, 64)[0], 5);
    CHECK(rig->reply.counts.threads, 96);
    CHECK(rig->reply.counts.read_bytes[0], before.read_bytes[0]); /* polling changes no count */
}

static void several_flags(struct rig *rig)
{
    zero(rig, 4096);
    CHECK(rig_run(rig, K_wait_either, ONE(32), OWN, 7, OWN + 256), VGPU_STALLED);
    CHECK(rig_resume(rig, 1), VGPU_STALLED);
    CHECK(rig->reply.moved, 0);
    rig_words(rig, 0)[3] = 1;
    CHECK(rig_resume(rig, 1), VGPU_RAN);
    CHECK(rig_words(rig, 256)[0], 3);
}

static void inside_block(struct rig *rig)
{
    zero(rig, 4096);
    CHECK(rig_run(rig, K_wait_shared, ONE(256), OWN, OWN + 256, 0), VGPU_STALLED);
    CHECK_TEXT(rig->reply.text, "thread (0,0,0) waits for a change of 0x200000000000");
    rig_words(rig, 0)[0] = 1;
    CHECK(rig_resume(rig, 1), VGPU_RAN);
    CHECK(rig_words(rig, 256)[255], 1);
}

static void spin_lock(struct rig *rig)
{
    zero(rig, 4096);
    CHECK(rig_run(rig, K_lock, GRID(8, 96), OWN, OWN + 128, 0), VGPU_RAN);
    CHECK(rig_words(rig, 128)[0], 8 * 96);
}

/* Reading one volatile again and again is not waiting, if the loop gets on. */
static void no_false_stall(struct rig *rig)
{
    CHECK(rig_run(rig, K_fill, GRID(40, 256), OWN + 4096, 10000, 0), VGPU_RAN);
    rig_words(rig, 0)[0] = 10000;
    CHECK(rig_run(rig, K_volatile_bound, GRID(2, 64), OWN, OWN + 4096, OWN + VGPU_CHUNK_BYTES),
          VGPU_RAN);
    CHECK(rig_words(rig, VGPU_CHUNK_BYTES)[127 * 2], 49995000);
}

static void builtin_atomics(struct rig *rig)
{
    zero(rig, 4096);
    CHECK(rig_run(rig, K_builtin_atomics, ONE(40), OWN, 0, 0), VGPU_RAN);
    CHECK(rig_words(rig, 0)[0], 780);
    CHECK(rig_words(rig, 0)[1], ~0u);
    CHECK(rig_words(rig, 0)[2], 1);
    CHECK(rig_words(rig, 0)[3], 0);
    CHECK(rig->reply.counts.atomics > 40 * 3, 1);
}

static void clock_runs(struct rig *rig)
{
    CHECK(rig_run(rig, K_delay, ONE(4), 1000000000, OWN, 0), VGPU_RAN);
    CHECK(rig->reply.counts.cycles >= 1000000000, 1);
    CHECK(rig->reply.counts.cycles < 1040000000, 1);
    zero(rig, 4096);
    CHECK(rig_run(rig, K_timeout, ONE(1), OWN, 1000000, OWN + 64), VGPU_STALLED);
    CHECK(rig->reply.moved, 1);
    int resumed = 0;
    while (rig_resume(rig, 1) == VGPU_STALLED && rig->reply.moved && resumed < 50)
        resumed++;
    CHECK(rig->reply.status, VGPU_RAN);
    CHECK(rig_words(rig, 64)[0], 1);
    CHECK(resumed < 20, 1);
}

/* A fault in one kernel leaves the stalled ones alone. */
static void fault_beside(struct rig *rig)
{
    zero(rig, 4096);
    CHECK(rig_run_as(rig, 21, K_wait_flag, GRID(2, 64), OWN, 5, OWN + 64), VGPU_STALLED);
    CHECK(rig_run_as(rig, 22, K_store, ONE(32), PEER, 1, 0), VGPU_FAULTED);
    CHECK(rig_run_as(rig, 23, K_deadlock, ONE(64), 0, 0, 0), VGPU_FAULTED);
    rig_words(rig, 0)[0] = 5;
    CHECK(rig_resume(rig, 21), VGPU_RAN);
    CHECK(rig_run_as(rig, 24, K_wait_flag, GRID(2, 64), OWN, 6, OWN + 64), VGPU_STALLED);
    rig_unmap(rig, OWN, RIG_MEMORY);
    CHECK(rig_resume(rig, 24), VGPU_FAULTED);
    CHECK(rig->reply.fault.kind, VGPU_FAULT_ADDRESS);
    CHECK(rig->reply.fault.address, OWN);
}

const struct test_case wait_cases[] = {{"between_blocks", between_blocks},
                                       {"barrier_of_grid", barrier_of_grid},
                                       {"too_many_blocks", too_many_blocks},
                                       {"small_gpu", small_gpu},
                                       {"shared_of_older_gpus", shared_of_older_gpus},
                                       {"between_kernels", between_kernels},
                                       {"several_flags", several_flags},
                                       {"inside_block", inside_block},
                                       {"spin_lock", spin_lock},
                                       {"no_false_stall", no_false_stall},
                                       {"builtin_atomics", builtin_atomics},
                                       {"clock_runs", clock_runs},
                                       {"fault_beside", fault_beside},
                                       {0}};

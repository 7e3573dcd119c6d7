/* SPDX-License-Identifier: MIT
 * hidden.c: lab 06's hidden tests: other machines, other GPUs, other sizes.
 */
#include "common.h"

static uint64_t any_size(struct lab_test *t, uint64_t most)
{
    return 1 + lab_random(t) % most;
}

static void check_round_random(struct lab_test *t)
{
    struct round_in in = {.asked = IO_ASKED};
    lab_node(t, "dgx-a100");
    for (int i = 0; i < in.asked; i++) {
        in.q[i].bytes = any_size(t, (uint64_t)1 << (8 + 2 * i));
        in.q[i].n = 1 + (int)(lab_random(t) % IO_GPUS);
        for (int d = 0; d < in.q[i].n; d++)
            in.q[i].devs[d] = (int)(lab_random(t) % IO_GPUS);
    }
    check_rounded(t, &in);
}

static void check_no_gpu(struct lab_test *t)
{
    struct round_in round = {.asked = 1, .q = {{.bytes = 1, .n = 1}}};
    struct alloc_in alloc = {.asked = 1, .bytes = {1}};
    lab_node(t, "none");
    expect_rc(t, "vmm_round without any GPU",
              ((const struct round_out *)lab_output(ask_round(t, &round)))->rc[0], LAB_ENOGPU);
    lab_node(t, "none");
    refuse_alloc(t, &alloc, "vmm_alloc without any GPU", LAB_ENOGPU);
}

static void check_alloc_eight(struct lab_test *t)
{
    struct alloc_in in = {.asked = IO_ASKED, .gpus = 8, .current = 5};
    lab_node(t, "dgx-a100");
    for (int i = 0; i < in.asked; i++) {
        in.dev[i] = (3 * i + 1) % 8;
        in.bytes[i] = any_size(t, 20 * MIB);
    }
    check_allocs(t, &in);
}

static void check_share_eight(struct lab_test *t)
{
    static const int kinds[] = {BOTH, READ, NONE};
    struct share_in in = {.owner = 6, .gpus = 8, .asked = IO_ASKED};
    lab_node(t, "dgx-a100");
    lab_env(t, "CUDA_VISIBLE_DEVICES", "3,1,7,0,2,6,5,4");
    for (int i = 0; i < in.asked; i++) {
        int peer = (int)(lab_random(t) % 7);
        in.q[i] = (struct share_question){.which = (int)(lab_random(t) % 2),
                                          .peer = peer < in.owner ? peer : 7,
                                          .flags = kinds[lab_random(t) % 3]};
    }
    check_shares(t, &in);
}

/* Nobody reaches anybody on the one; GPU 0 reaches GPU 1, and not the other way, on the other. */
static void check_share_unreachable(struct lab_test *t)
{
    static const char *const calls[] = {
        "vmm_share with a GPU that cannot reach the owner",
        "vmm_share with a GPU that cannot reach the owner, CU_MEM_ACCESS_FLAGS_PROT_NONE,"};
    struct share_in in = {.owner = 0,
                          .gpus = 2,
                          .asked = 2,
                          .q = {{.peer = 1, .flags = READ}, {.peer = 1, .flags = NONE}}};
    const char *const nodes[] = {"pcie-4090-2", "oneway-2"};
    for (int i = 0; i < 2; i++) {
        lab_node(t, nodes[i]);
        struct lab_run *run = lab_run(t, "share", &in, sizeof in, sizeof(struct share_out));
        const struct share_out *out = lab_output(run);
        for (int k = 0; k < in.asked; k++) {
            expect_rc(t, calls[k], out->rc[k], LAB_ENOPEER);
            expect_access(t, "after it", 1, out->access[k][0][1], NONE);
        }
        lab_refused_leaked_nothing(t, run);
    }
    in.owner = 1;
    in.q[0].peer = in.q[1].peer = 0;
    lab_node(t, "oneway-2");
    check_shares(t, &in);
}

static void check_grow_eight(struct lab_test *t)
{
    struct grow_in in = {.device = 2, .gpus = 8, .asked = 14, .reserve = 512 * MIB, .sharers = 7};
    lab_node(t, "dgx-a100");
    uint64_t at = 0;
    for (int i = 0; i < in.asked; i++)
        in.bytes[i] = at += any_size(t, 6 * MIB);
    for (int s = 0; s < in.sharers; s++) {
        in.sharer[s] = s < in.device ? s : s + 1;
        in.flags[s] = s % 2 ? READ : BOTH;
    }
    in.late = 3;
    in.fill = 1;
    check_grow(t, &in);
    lab_node(t, "single");
    in = (struct grow_in){.gpus = 1, .asked = 3, .reserve = 100 * MIB, .fill = 1};
    for (int i = 0; i < in.asked; i++)
        in.bytes[i] = any_size(t, 100 * MIB);
    check_grow(t, &in);
}

static void check_send_pairs(struct lab_test *t)
{
    for (int i = 0; i < 5; i++) {
        struct parcel_in in = {.gpus = 8, .bytes = any_size(t, 9 * MIB)};
        in.device = (int)(lab_random(t) % 8);
        in.importer = (int)(lab_random(t) % 8);
        in.free_early = i % 2;
        lab_node(t, "dgx-a100");
        lab_env(t, "CUDA_VISIBLE_DEVICES", i > 2 ? "7,6,5,4,3,2,1,0" : NULL);
        check_parcel(t, &in);
    }
    struct parcel_in in = {.importer = 1, .gpus = 2, .bytes = 1};
    lab_env(t, "CUDA_VISIBLE_DEVICES", NULL);
    lab_node(t, "pcie-4090-2");
    refuse_parcel(t, &in, "vmm_import for a GPU that cannot reach it", LAB_ENOPEER);
    lab_node(t, "oneway-2"); /* GPU 0 reaches GPU 1, and not the other way round */
    refuse_parcel(t, &in, "vmm_import for a GPU that cannot reach it", LAB_ENOPEER);
    in = (struct parcel_in){.device = 1, .gpus = 2, .bytes = 1};
    check_parcel(t, &in);
}

LAB_CASES = {
    {.name = "round_random",
     .todo = 1,
     .title = "vmm_round of any size on 8 GPUs",
     .points = 1,
     .needs_witness = true,
     .check = check_round_random},
    {.name = "no_gpu",
     .title = "without any GPU everything says so",
     .points = 1,
     .needs_witness = true,
     .check = check_no_gpu},
    {.name = "alloc_eight",
     .todo = 2,
     .title = "vmm_alloc on 8 GPUs, another one current",
     .points = 1,
     .needs_witness = true,
     .check = check_alloc_eight},
    {.name = "share_eight",
     .todo = 3,
     .title = "vmm_share among 8 GPUs in another order",
     .points = 2,
     .needs_witness = true,
     .check = check_share_eight},
    {.name = "share_unreachable",
     .todo = 3,
     .title = "vmm_share asks whether the peer reaches the owner",
     .points = 1,
     .needs_witness = true,
     .check = check_share_unreachable},
    {.name = "grow_eight",
     .todo = 5,
     .title = "vec_grow in many parts with 7 sharers, and on one GPU",
     .points = 2,
     .needs_witness = true,
     .check = check_grow_eight},
    {.name = "send_pairs",
     .todo = 6,
     .title = "parcels between other GPUs, and to one that cannot reach them",
     .points = 1,
     .needs_witness = true,
     .check = check_send_pairs},
    {0},
};

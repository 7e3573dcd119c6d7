/* SPDX-License-Identifier: MIT
 * public.c: lab 06's public tests.
 */
#include "public_vectors.h"

/* ---- TODO 1 ---- */

static void check_round(struct lab_test *t)
{
    const uint64_t sizes[] = {1, 4096, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 3000001, 1000 * MIB + 7,
                              5 * GIB + 1,
                              /* the largest that has a multiple: asked for GPU 0 alone */
                              UINT64_MAX - 2 * MIB + 1, 4 * GIB - 1};
    int n = lab_gpus(t) < IO_GPUS ? lab_gpus(t) : IO_GPUS;
    struct round_in in = {.asked = 10};
    for (int i = 0; i < in.asked; i++) {
        in.q[i].bytes = sizes[i];
        in.q[i].n = 1 + i % n;
        for (int d = 0; d < in.q[i].n; d++)
            in.q[i].devs[d] = n - 1 - d;
    }
    check_rounded(t, &in);
    if (!lab_is_virtual(t)) /* real GPUs all have granules of 2 MiB */
        return;
    lab_fault(t, "granule:1=4");
    for (int i = 0; i < in.asked; i++) {
        in.q[i].n = 1 + i % 2;
        in.q[i].devs[0] = i / 2 % 2;
        in.q[i].devs[1] = !in.q[i].devs[0];
    }
    check_rounded(t, &in);
}

static void check_round_bad(struct lab_test *t)
{
    static const char *const calls[] = {
        "vmm_round of 0 bytes",        "vmm_round for no GPU (n = 0)",
        "vmm_round with devs null",    "vmm_round with rounded null",
        "vmm_round for GPU 99",        "vmm_round for GPUs 0 and -1",
        "vmm_round of SIZE_MAX bytes", "vmm_round of the largest multiple of 2 MiB, and one byte"};
    static const int want[] = {LAB_EINVAL, LAB_EINVAL, LAB_EINVAL, LAB_EINVAL,
                               LAB_ENOGPU, LAB_ENOGPU, LAB_ENOMEM, LAB_ENOMEM};
    struct round_in in = {.asked = 8,
                          .q = {{.n = 1},
                                {.bytes = 1},
                                {.bytes = 1, .n = 1, .null = 1},
                                {.bytes = 1, .n = 1, .null = 2},
                                {.bytes = 1, .n = 1, .devs = {99}},
                                {.bytes = 1, .n = 2, .devs = {0, -1}},
                                {.bytes = UINT64_MAX, .n = 1},
                                {.bytes = UINT64_MAX - 2 * MIB + 2, .n = 1}}};
    const struct round_out *out = lab_output(ask_round(t, &in));
    for (int i = 0; i < in.asked; i++) {
        expect_rc(t, calls[i], out->rc[i], want[i]);
        lab_expect(t, out->untouched[i], "%s failed and wrote *rounded", calls[i]);
    }
    refuse_calls(t, REFUSE_ROUND, "vmm_round(5 MiB, {0, 1}, 2, &rounded)");
}

/* ---- TODO 2 ---- */

static void check_alloc(struct lab_test *t)
{
    const uint64_t sizes[] = {1, 2 * MIB, 5000001, 64 * KIB, 16 * MIB + 3, 5 * GIB + 1};
    int n = lab_gpus(t) < IO_GPUS ? lab_gpus(t) : IO_GPUS;
    struct alloc_in in = {.asked = 6, .gpus = n};
    for (int i = 0; i < in.asked; i++) {
        in.dev[i] = (i + 1) % n;
        in.bytes[i] = sizes[i];
    }
    struct lab_run *run = check_allocs(t, &in);
    const struct alloc_out *out = lab_output(run);
    for (int i = 1; i < in.asked; i++)
        lab_expect(t, out->base[i] != out->base[i - 1], "two allocations have the same address");
    if (!lab_is_virtual(t)) /* real GPUs all have granules of 2 MiB */
        return;
    lab_fault(t, "granule:0=4"); /* of no interest to GPU 1 */
    in = (struct alloc_in){.asked = 2, .gpus = n, .dev = {1, 1}, .bytes = {1, 2 * MIB + 1}};
    check_allocs(t, &in);
}

static void check_alloc_bad(struct lab_test *t)
{
    struct alloc_in in = {.asked = 2, .gpus = 1, .dev = {99, -1}, .bytes = {1, 1}};
    refuse_alloc(t, &in, "vmm_alloc on a GPU that is not there", LAB_ENOGPU);
    in = (struct alloc_in){.asked = 1, .gpus = 1};
    refuse_alloc(t, &in, "vmm_alloc of 0 bytes", LAB_EINVAL);
    in.fail = FAIL_NULL;
    in.bytes[0] = 1;
    refuse_alloc(t, &in, "vmm_alloc with v null", LAB_EINVAL);
}

static void check_alloc_unwinds(struct lab_test *t)
{
    struct alloc_in in = {.asked = 2, .gpus = 1, .bytes = {(uint64_t)1 << 41, (uint64_t)1 << 41}};
    refuse_alloc(t, &in, "vmm_alloc of 2 TiB", LAB_ENOMEM);
    in.bytes[0] = in.bytes[1] = MIB;
    in.fail = FAIL_ADDRESSES;
    refuse_alloc(t, &in, "vmm_alloc when no addresses are left", LAB_ENOMEM);
    refuse_calls(t, REFUSE_ALLOC, "vmm_alloc(1, 3 MiB, &v)");
}

/* ---- TODO 3 ---- */

static void check_share(struct lab_test *t)
{
    struct share_in in = {.owner = 0, .gpus = lab_gpus(t) < IO_GPUS ? lab_gpus(t) : IO_GPUS};
    in.asked = 2;
    in.q[0] = (struct share_question){.which = 0, .peer = 1, .flags = READ};
    in.q[1] = (struct share_question){.which = 0, .peer = 1, .flags = BOTH};
    if (in.gpus > 2) {
        in.asked = 5;
        in.q[2] = (struct share_question){.which = 1, .peer = 2, .flags = READ};
        in.q[3] = (struct share_question){.which = 0, .peer = 1, .flags = NONE};
        in.q[4] = (struct share_question){.which = 0, .peer = 2, .flags = BOTH};
    }
    check_shares(t, &in);
}

static void check_share_closed(struct lab_test *t)
{
    struct probe_in in = {.owner = 0, .peer = 1, .flags = BOTH, .which = 0, .gpu = 1};
    check_probe(t, &in, 1);
    in.write = 1;
    check_probe(t, &in, 1);
    in.which = 1;
    check_probe(t, &in, 0); /* the neighbour is not shared */
    in.write = 0;
    check_probe(t, &in, 0);
    if (lab_gpus(t) > 2) {
        in.which = 0;
        in.gpu = 2;
        check_probe(t, &in, 0); /* nor is it shared with anybody else */
    }
}

static void check_share_read_only(struct lab_test *t)
{
    struct probe_in in = {.owner = 1, .peer = 0, .flags = READ, .which = 0, .gpu = 0};
    check_probe(t, &in, 1);
    in.write = 1;
    check_probe(t, &in, 0);
    in.gpu = 1; /* the owner may write all the same */
    check_probe(t, &in, 1);
}

static void check_share_bad(struct lab_test *t)
{
    static const char *const calls[] = {"vmm_share of a null pointer",
                                        "vmm_share of nothing allocated",
                                        "vmm_share with GPU 99",
                                        "vmm_share with GPU -1",
                                        "vmm_share with the owner, no access",
                                        "vmm_share with flags 7"};
    static const int want[] = {LAB_EINVAL, LAB_EINVAL, LAB_ENOGPU,
                               LAB_ENOGPU, LAB_EINVAL, LAB_EINVAL};
    struct share_in in = {.gpus = 2,
                          .asked = 6,
                          .q = {{.peer = 1, .flags = READ, .null = 1},
                                {.peer = 1, .flags = READ, .null = 2},
                                {.peer = 99, .flags = READ},
                                {.peer = -1, .flags = READ},
                                {.peer = 0, .flags = NONE},
                                {.peer = 1, .flags = 7}}};
    struct lab_run *run = lab_run(t, "share", &in, sizeof in, sizeof(struct share_out));
    const struct share_out *out = lab_output(run);
    for (int i = 0; i < in.asked; i++) {
        expect_rc(t, calls[i], out->rc[i], want[i]);
        expect_access(t, calls[i], 0, out->access[i][0][0], BOTH);
        expect_access(t, calls[i], 1, out->access[i][0][1], NONE);
    }
    lab_nothing_leaked(t, run);
    refuse_calls(t, REFUSE_SHARE, "vmm_share(&v, 1, read-only)");
}

/* ---- TODO 4 ---- */

static void check_free(struct lab_test *t)
{
    struct free_in in = {.owner = lab_gpus(t) - 1};
    struct lab_run *run = lab_run(t, "free", &in, sizeof in, sizeof(struct free_out));
    const struct free_out *out = lab_output(run);
    lab_expect(t, out->setup == 0, "the allocations could not be made (%d)", out->setup);
    expect_rc(t, "vmm_free", out->freed, LAB_OK);
    lab_expect(t, !out->mapped_after, "after vmm_free the allocation is still mapped");
    lab_expect(t, out->zeroed, "vmm_free left something in *v: a second call would free it again");
    expect_rc(t, "vmm_free for the second time", out->again, LAB_OK);
    lab_expect(t, out->kept == 0,
               "a second handle of the same memory (cuMemRetainAllocationHandle) was invalid after "
               "vmm_free (error %d): vmm_free released twice and took that handle's reference",
               out->kept);
    lab_expect(t, out->other_access == BOTH && out->other_value == PROBE_BEFORE,
               "vmm_free of one allocation changed its neighbour: %s, value %d",
               access_name(out->other_access), out->other_value);
    lab_nothing_leaked(t, run);
}

static void check_free_half(struct lab_test *t)
{
    struct free_in in = {.owner = 0, .stale = lab_is_virtual(t)}; /* drivers need not look */
    struct lab_run *run = lab_run(t, "free", &in, sizeof in, sizeof(struct free_out));
    const struct free_out *out = lab_output(run);
    lab_expect(t, out->setup == 0, "the allocations could not be made (%d)", out->setup);
    expect_rc(t, "vmm_free of a null pointer", out->null, LAB_EINVAL);
    expect_rc(t, "vmm_free of a struct that is all zero", out->zero, LAB_OK);
    expect_rc(t, "vmm_free of a handle without addresses", out->only_handle, LAB_OK);
    expect_rc(t, "vmm_free of addresses where nothing is mapped", out->only_range, LAB_OK);
    expect_rc(t, "vmm_free of addresses that were given back already", out->no_range, LAB_ECUDA);
    expect_rc(t, "vmm_free of half of the addresses", out->short_range, LAB_ECUDA);
    expect_rc(t, "vmm_free of a handle that was given back already", out->no_handle, LAB_ECUDA);
    lab_refused_leaked_nothing(t, run);
}

/* ---- everything together ---- */

static void check_gpu_counts(struct lab_test *t)
{
    static const char *const visible[] = {"0", "0,1", "0,1,2", "3,2,1,0"};
    lab_node(t, "hgx-h200-4");
    for (int n = 1; n <= 4; n++) {
        struct alloc_in alloc = {.asked = 2, .gpus = n, .dev = {n - 1, 0}, .bytes = {1, 2097153}};
        struct share_in share = {.owner = n - 1, .gpus = n, .asked = 1};
        struct grow_in grow = {.device = n - 1, .gpus = n, .asked = 2, .reserve = 8 * MIB};
        struct parcel_in parcel = {.device = n - 1, .gpus = n, .bytes = 4194305};
        grow.bytes[0] = 1, grow.bytes[1] = 2097153;
        share.q[0] = (struct share_question){.which = 1, .peer = 0, .flags = READ};
        if (n > 1)
            grow.sharers = 1, grow.flags[0] = BOTH;
        lab_env(t, "CUDA_VISIBLE_DEVICES", visible[n - 1]);
        check_allocs(t, &alloc);
        if (n > 1)
            check_shares(t, &share);
        check_grow(t, &grow);
        check_parcel(t, &parcel);
    }
}

LAB_CASES = {
    {.name = "round",
     .todo = 1,
     .title = "vmm_round gives the next multiple of the granularity",
     .rule = "cuMemCreate and cuMemAddressReserve take whole granules only",
     .points = 4,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_round},
    {.name = "round_bad",
     .todo = 1,
     .title = "vmm_round refuses what makes no sense",
     .points = 3,
     .min_gpus = 1,
     .check = check_round_bad},
    {.name = "alloc",
     .todo = 2,
     .title = "vmm_alloc makes memory that its own GPU may use, and no other",
     .rule = "memory, addresses, mapping and access are four calls; without the last, no GPU may "
             "use the memory",
     .about = "no access, expected",
     .points = 12,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_alloc},
    {.name = "alloc_bad",
     .todo = 2,
     .title = "vmm_alloc refuses what makes no sense",
     .points = 3,
     .min_gpus = 1,
     .check = check_alloc_bad},
    {.name = "alloc_unwinds",
     .todo = 2,
     .title = "vmm_alloc leaves nothing behind when it fails half-way",
     .rule = "free what was made before the call that failed: nothing may be left",
     .points = 5,
     .needs_witness = true,
     .check = check_alloc_unwinds},
    {.name = "share",
     .todo = 3,
     .title = "vmm_share changes one GPU's access to one allocation",
     .rule = "cuMemSetAccess names the GPU that is to get access, not the one whose memory it is",
     .about = "has no access, expected|has read-only, expected read and write",
     .points = 6,
     .quick = true,
     .min_gpus = 2,
     .wants_gpus = 4,
     .check = check_share},
    {.name = "share_closed",
     .todo = 3,
     .title = "what is not shared stays unreachable",
     .points = 4,
     .min_gpus = 2,
     .no_memcheck = true,
     .check = check_share_closed},
    {.name = "share_read_only",
     .todo = 3,
     .title = "read-only is read-only, except for the owner",
     .points = 4,
     .min_gpus = 2,
     .no_memcheck = true,
     .check = check_share_read_only},
    {.name = "share_bad",
     .todo = 3,
     .title = "vmm_share refuses what makes no sense",
     .points = 2,
     .min_gpus = 2,
     .check = check_share_bad},
    {.name = "free",
     .todo = 4,
     .title = "vmm_free gives everything back, once",
     .rule = "unmap each mapping, free each reservation, release each handle; each of them once",
     .about = "vmm_free returned",
     .points = 7,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_free},
    {.name = "free_half",
     .todo = 4,
     .title = "vmm_free also frees an incomplete allocation",
     .points = 3,
     .min_gpus = 1,
     .check = check_free_half},
    {.name = "grow",
     .todo = 5,
     .title = "vec_grow keeps the address and the contents, and copies nothing",
     .rule = "a new part is mapped behind the others; nothing else moves",
     .points = 8,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_vec_grow},
    {.name = "grow_sharers",
     .todo = 5,
     .title = "GPUs that share the vector also share its new part",
     .rule = "access belongs to a mapping: a GPU has no access to a new mapping",
     .points = 5,
     .min_gpus = 2,
     .check = check_grow_sharers},
    {.name = "grow_bad",
     .todo = 5,
     .title = "vec_grow refuses what does not fit",
     .points = 2,
     .min_gpus = 1,
     .check = check_grow_bad},
    {.name = "grow_unwinds",
     .todo = 5,
     .title = "vec_grow leaves the vector as it was when it fails half-way",
     .points = 5,
     .needs_witness = true,
     .check = check_grow_unwinds},
    {.name = "send",
     .todo = 6,
     .title = "vmm_export and vmm_import: the same memory in two processes",
     .rule = "a descriptor is a reference: close it once it was used",
     .about = "new descriptors|left parcel->fd",
     .points = 9,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_send},
    {.name = "send_bad",
     .todo = 6,
     .title = "vmm_export and vmm_import refuse what makes no sense",
     .points = 2,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_send_bad},
    {.name = "send_unwinds",
     .todo = 6,
     .title = "vmm_import leaves nothing behind when it fails half-way",
     .points = 4,
     .needs_witness = true,
     .check = check_send_unwinds},
    {.name = "gpu_counts",
     .title = "all of it on 1, 2, 3 and 4 GPUs",
     .points = 3,
     .needs_witness = true,
     .check = check_gpu_counts},
    {0},
};

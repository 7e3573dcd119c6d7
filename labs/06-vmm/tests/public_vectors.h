/* SPDX-License-Identifier: MIT
 * public_vectors.h: lab 06's public cases of TODO 5 and 6.
 */
#ifndef LAB06_PUBLIC_VECTORS_H
#define LAB06_PUBLIC_VECTORS_H

#include "common.h"

/* ---- TODO 5 ---- */

static void check_vec_grow(struct lab_test *t)
{
    const uint64_t sizes[] = {1, 2 * MIB, 2 * MIB + 1, 1000, 11000001, 40 * MIB};
    struct grow_in in = {.gpus = 1, .asked = 6, .reserve = 64 * MIB, .fill = 1};
    memcpy(in.bytes, sizes, sizeof sizes);
    check_grow(t, &in);
    in = (struct grow_in){.gpus = 1, .asked = 2, .reserve = 12 * GIB};
    in.bytes[0] = 1, in.bytes[1] = 5 * GIB + 1;
    check_grow(t, &in);
}

/* The vector's GPU, or one that shares it, has granules of 4 MiB. */
static void check_granules(struct lab_test *t, const struct grow_in *who, int gpu)
{
    struct grow_in in = *who;
    char fault[32];
    snprintf(fault, sizeof fault, "granule:%d=4", gpu);
    in.asked = 2, in.reserve = 64 * MIB;
    in.bytes[0] = 5 * MIB, in.bytes[1] = 9 * MIB;
    in.flags[0] = in.flags[1] = BOTH;
    lab_fault(t, fault);
    struct lab_run *run = ask_grow(t, &in);
    const struct grow_out *out = lab_output(run);
    for (int i = 0; i < in.asked; i++)
        lab_expect(t, out->rc[i] == LAB_OK && out->mapped[i] == (uint64_t)(8 + 4 * i) * MIB,
                   "vec_grow(v, %llu) returned %s, expected LAB_OK, and the vector has %llu bytes: "
                   "a part is a multiple "
                   "of the granularity of the vector's GPU and of each sharer's (GPU %d's is 4 MiB "
                   "here)",
                   (unsigned long long)in.bytes[i], rc_name(out->rc[i]),
                   (unsigned long long)out->mapped[i], gpu);
    lab_nothing_leaked(t, run);
}

static void check_grow_sharers(struct lab_test *t)
{
    int n = lab_gpus(t) < IO_GPUS ? lab_gpus(t) : IO_GPUS;
    struct grow_in in = {.device = n - 1, .gpus = n, .asked = 3, .reserve = 64 * MIB};
    in.bytes[0] = 3 * MIB, in.bytes[1] = 7 * MIB, in.bytes[2] = 9000000;
    in.sharers = n > 2 ? 2 : 1;
    in.sharer[0] = 0, in.flags[0] = READ;
    in.sharer[1] = 1, in.flags[1] = BOTH;
    in.late = n > 2;
    check_grow(t, &in);
    in.reserve = 12 * GIB, in.asked = 2, in.bytes[1] = 5 * GIB + 1;
    check_grow(t, &in);
    if (!lab_is_virtual(t)) /* real GPUs all have granules of 2 MiB */
        return;
    in = (struct grow_in){.device = n - 1, .gpus = n, .sharers = 1, .sharer = {1}};
    check_granules(t, &in, 1);
    check_granules(t, &in, in.device);
    in.sharers = 2, in.sharer[0] = 0, in.sharer[1] = 1;
    check_granules(t, &in, 1);
}

/* 5 of 6 MiB that are reserved are 8 MiB for a sharer whose granules have 4. */
static void check_grow_rounded(struct lab_test *t)
{
    struct grow_in in = {.gpus = 2, .asked = 1, .reserve = 6 * MIB, .bytes = {5 * MIB}};
    if (!lab_is_virtual(t) || lab_gpus(t) < 2) /* real GPUs all have granules of 2 MiB */
        return;
    in.sharers = 1, in.sharer[0] = 1, in.flags[0] = READ;
    lab_fault(t, "granule:1=4");
    refuse_grow(t, &in,
                "vec_grow to 5 MiB of the 6 MiB that are reserved, where a sharer's granularity of "
                "4 MiB makes 8 MiB of them,",
                LAB_ERANGE);
    lab_fault(t, NULL);
}

static void check_grow_bad(struct lab_test *t)
{
    struct grow_in in = {
        .gpus = 1, .asked = 2, .reserve = 8 * MIB, .bytes = {3 * MIB, 8 * MIB + 1}};
    refuse_grow(t, &in, "vec_grow beyond what is reserved", LAB_ERANGE);
    in.bytes[1] = UINT64_MAX;
    refuse_grow(t, &in, "vec_grow of a vector of 4 MiB to SIZE_MAX bytes", LAB_ERANGE);
    in.bytes[1] = 0;
    refuse_grow(t, &in, "vec_grow to 0 bytes", LAB_EINVAL);
    in.bytes[1] = 5 * MIB;
    in.spoil = SPOIL_PARTS;
    refuse_grow(t, &in, "vec_grow with VVEC_PARTS parts", LAB_ERANGE);
    in = (struct grow_in){.gpus = 1, .asked = 1, .reserve = 8 * MIB, .bytes = {MIB}, .null = 1};
    refuse_grow(t, &in, "vec_grow of a null pointer", LAB_EINVAL);
    in.null = 2;
    refuse_grow(t, &in, "vec_grow of a vector that was never opened", LAB_EINVAL);
    check_grow_rounded(t);
}

static void check_grow_unwinds(struct lab_test *t)
{
    struct grow_in in = {.gpus = lab_gpus(t), .asked = 2, .reserve = 8 * MIB};
    in.bytes[0] = 3 * MIB, in.bytes[1] = 5 * MIB;
    in.spoil = SPOIL_MAPPED;
    refuse_grow(t, &in, "vec_grow where the map fails (something is mapped there)", 0);
    in.spoil = SPOIL_SHARER;
    in.sharers = in.gpus > 1, in.sharer[0] = 1, in.flags[0] = READ;
    refuse_grow(t, &in, "vec_grow where cuMemSetAccess fails (a sharer with flags 7)", LAB_ECUDA);
    in.reserve = 12 * GIB, in.bytes[1] = 5 * GIB + 1;
    refuse_grow(t, &in, "vec_grow where cuMemSetAccess fails (a sharer with flags 7)", LAB_ECUDA);
    in.spoil = SPOIL_NOTHING;
    in.reserve = (uint64_t)1 << 41;
    in.bytes[1] = (uint64_t)1 << 41;
    refuse_grow(t, &in, "vec_grow to 2 TiB", LAB_ENOMEM);
    in.asked = 1, in.bytes[0] = UINT64_MAX;
    refuse_grow(t, &in, "vec_grow to SIZE_MAX bytes", 0);
    refuse_calls(t, REFUSE_GROW, "vec_grow(&v, 5 MiB)");
}

/* ---- TODO 6 ---- */

static void check_send(struct lab_test *t)
{
    int n = lab_gpus(t) < IO_GPUS ? lab_gpus(t) : IO_GPUS;
    struct parcel_in in = {.importer = n > 1, .gpus = n, .bytes = 3000001};
    check_parcel(t, &in);
    in.device = in.importer = n - 1;
    in.bytes = 1;
    in.free_early = in.first_call = 1;
    check_parcel(t, &in);
    in = (struct parcel_in){.importer = n > 1, .gpus = n, .bytes = 5 * GIB + 1, .no_stdin = 1};
    check_parcel(t, &in);
}

static void check_send_bad(struct lab_test *t)
{
    static const char *const calls[] = {"vmm_export of a null pointer",
                                        "vmm_export into a null pointer",
                                        "vmm_export of nothing allocated",
                                        "vmm_import of a null pointer",
                                        "vmm_import of a parcel without a descriptor (-1)",
                                        "vmm_import of a parcel without a descriptor (0)",
                                        "vmm_import into a null pointer",
                                        "vmm_import of 0 bytes"};
    struct parcel_in in = {.gpus = lab_gpus(t), .bytes = 3000001, .bad = PARCEL_NULL};
    in.full = lab_is_virtual(t); /* drivers may want descriptors of their own */
    struct lab_run *run;
    const struct parcel_out *out = ask_parcel(t, &in, &run);
    for (int i = 0; i < 8; i++)
        expect_rc(t, calls[i], out->null_rc[i], LAB_EINVAL);
    if (in.full) {
        lab_expect(t, out->full_rc[0] != LAB_OK,
                   "vmm_export without a free descriptor returned LAB_OK");
        expect_rc(t, "vmm_export with no free descriptor but 0", out->full_rc[1], LAB_ENOMEM);
        expect_rc(t, "vmm_export of an invalid handle", out->full_rc[2], LAB_ECUDA);
        lab_expect(t, out->full_untouched, "vmm_export failed and wrote *parcel");
    }
    lab_nothing_leaked(t, run);
    in.bad = PARCEL_GOOD;
    in.importer = 99;
    refuse_parcel(t, &in, "vmm_import for GPU 99", LAB_ENOGPU);
    refuse_calls(t, REFUSE_EXPORT, "vmm_export(&v, &parcel)");
}

static void check_send_unwinds(struct lab_test *t)
{
    struct parcel_in in = {.gpus = lab_gpus(t), .bytes = 3000001, .bad = PARCEL_SIZE};
    in.more = (int64_t)(4 * MIB);
    refuse_parcel(t, &in, "vmm_import with twice the size", LAB_ECUDA);
    in.more = -1;
    refuse_parcel(t, &in, "vmm_import with a byte less than the size", LAB_ECUDA);
    in.more = 1;
    refuse_parcel(t, &in, "vmm_import with a byte more than the size", LAB_ECUDA);
    in.bad = PARCEL_NO_FD;
    refuse_parcel(t, &in, "vmm_import of a descriptor of /dev/null", LAB_ECUDA);
    refuse_calls(t, REFUSE_IMPORT, "vmm_import(&parcel, 0, &v)");
}

#endif

/* SPDX-License-Identifier: MIT
 * huge.h: the adapter of a copy of more than 2 GiB (part of runner.c). Its buffers are one piece of
 * memory mapped many times, one address behind the other, and a piece of its own at the end.
 */
#ifndef LAB03_HUGE_H
#define LAB03_HUGE_H

#include <cuda.h>

#define HUGE_PIECE ((size_t)4 << 20)
#define HUGE_PIECES ((((size_t)1 << 31) / HUGE_PIECE) + 1)
#define HUGE_BYTES (((size_t)1 << 31) + HUGE_PIECE / 2) /* half of the last piece is a guard */

/* Found by the runtime, not by the linker: libcuda.so.1 comes with a GPU's driver. */
static void *driver_call(const char *name)
{
    void *found = NULL;
    enum cudaDriverEntryPointQueryResult status;
#if CUDART_VERSION >= 12050
    (void)cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &status);
#else
    (void)cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &status);
#endif
    return found;
}
#define DRIVER(name) ((__typeof__(&name))driver_call(#name))

/* Two pieces of GPU `device`: `many`, and the last one. They go with the process. */
static char *huge_buffer(int device)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    const CUmemAccessDesc both = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle many, last;
    CUdeviceptr at = 0;
    (void)cudaSetDevice(device);
    (void)cudaFree(NULL);
    int bad = DRIVER(cuMemCreate)(&many, HUGE_PIECE, &prop, 0) ||
              DRIVER(cuMemCreate)(&last, HUGE_PIECE, &prop, 0) ||
              DRIVER(cuMemAddressReserve)(&at, HUGE_PIECES * HUGE_PIECE, 0, 0, 0);
    for (size_t i = 0; i < HUGE_PIECES && !bad; i++)
        bad = DRIVER(cuMemMap)(at + i * HUGE_PIECE, HUGE_PIECE, 0,
                               i + 1 < HUGE_PIECES ? many : last, 0);
    bad = bad || DRIVER(cuMemSetAccess)(at, HUGE_PIECES * HUGE_PIECE, &both, 1);
    return bad ? NULL : (char *)at;
}

/* Fills both pieces. */
static void fill_huge(char *buffer, int many, int last)
{
    (void)cudaMemset(buffer, many, HUGE_PIECE);
    (void)cudaMemset(buffer + (HUGE_PIECES - 1) * HUGE_PIECE, last, HUGE_PIECE);
    (void)cudaDeviceSynchronize();
}

static int count_others(const char *at, size_t bytes, char value)
{
    int others = 0;
    for (size_t i = 0; i < bytes; i++)
        others += at[i] != value;
    return others;
}

LAB_RUN(huge)
{
    const struct huge_in *in = lab_input(io, sizeof *in);
    struct huge_out *out = lab_result(io, sizeof *out);
    static char back[HUGE_PIECE];
    struct stage stage;
    char *dst = huge_buffer(in->dst_dev);
    if (dst)
        fill_huge(dst, IO_RIM, IO_RIM);
    char *src = huge_buffer(in->src_dev);
    if (src)
        fill_huge(src, LONE_SENT, LONE_LATER);
    out->setup = !dst || !src || stage_create(&stage, in->dst_dev, in->src_dev, HUGE_PIECE);
    if (out->setup)
        return;
    out->rc = stage_copy_async(&stage, dst, src, HUGE_BYTES, NULL);
    (void)stage_destroy(&stage);
    (void)cudaDeviceSynchronize();
    (void)cudaMemcpy(back, dst, sizeof back, cudaMemcpyDeviceToHost);
    out->wrong[0] = count_others(back, sizeof back, LONE_SENT);
    (void)cudaMemcpy(back, dst + (HUGE_PIECES - 1) * HUGE_PIECE, sizeof back,
                     cudaMemcpyDeviceToHost);
    out->wrong[1] = count_others(back, sizeof back / 2, (char)LONE_LATER);
    out->wrong[2] = count_others(back + sizeof back / 2, sizeof back / 2, (char)IO_RIM);
}

#endif

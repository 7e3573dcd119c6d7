/* SPDX-License-Identifier: MIT
 * aliased.h: gigabytes of addresses with a few megabytes of GPU memory behind them, for adapters
 * that ask about sizes beyond 2^31: one piece is mapped many times, one address behind the other,
 * and behind it lies a piece of its own.
 */
#ifndef LAB_ALIASED_H
#define LAB_ALIASED_H

#include <stddef.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

/* Found by the runtime, not by the linker: libcuda.so.1 comes with a GPU's driver. */
static inline void *lab_driver_call(const char *name)
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
#define LAB_DRIVER(name) ((__typeof__(&name))lab_driver_call(#name))

/* `pieces` times the same `piece` bytes of GPU `device`, another piece behind them, and then `gap`
 * addresses that no memory has. All sizes are multiples of 2 MiB. `device` is current afterwards.
 * The memory goes with the process. NULL: it could not be had. */
static inline char *lab_aliased(int device, size_t piece, size_t pieces, size_t gap)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    const CUmemAccessDesc both = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const size_t bytes = (pieces + 1) * piece;
    CUmemGenericAllocationHandle many, last;
    CUdeviceptr at = 0;
    (void)cudaSetDevice(device);
    (void)cudaFree(NULL);
    int bad = LAB_DRIVER(cuMemCreate)(&many, piece, &prop, 0) ||
              LAB_DRIVER(cuMemCreate)(&last, piece, &prop, 0) ||
              LAB_DRIVER(cuMemAddressReserve)(&at, bytes + gap, 0, 0, 0);
    for (size_t i = 0; i <= pieces && !bad; i++)
        bad = LAB_DRIVER(cuMemMap)(at + i * piece, piece, 0, i < pieces ? many : last, 0);
    bad = bad || LAB_DRIVER(cuMemSetAccess)(at, bytes, &both, 1);
    return bad ? NULL : (char *)at;
}

#endif

// SPDX-License-Identifier: MIT
// double.cu: a vector that grows without moving, by the driver API.
#include <stdio.h>
#include <stdlib.h>

#include <cuda.h>

#define DRV(call)                                                                                  \
    do {                                                                                           \
        CUresult drv_error = (call);                                                               \
        if (drv_error != CUDA_SUCCESS) {                                                           \
            const char *drv_text = "?";                                                            \
            cuGetErrorString(drv_error, &drv_text);                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, drv_text);                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define MIB ((size_t)1 << 20)

// book: allocate
// `bytes` of GPU 0's memory at `at`, which is reserved; for GPU 0 alone.
static CUmemGenericAllocationHandle back(CUdeviceptr at, size_t bytes)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = {};
    CUmemAccessDesc access = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = 0;
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRV(cuMemCreate(&handle, bytes, &prop, 0)); // memory without an address
    DRV(cuMemMap(at, bytes, 0, handle, 0));     // at these addresses
    DRV(cuMemSetAccess(at, bytes, &access, 1)); // for this GPU
    return handle;
}
// book: end

int main(void)
{
    CUcontext context;
    CUdeviceptr base;
    size_t used = 0, free0, free1, total;
    unsigned first = 0, last = 0;
    DRV(cuInit(0));
    DRV(cuDevicePrimaryCtxRetain(&context, 0));
    DRV(cuCtxSetCurrent(context));
    DRV(cuMemGetInfo(&free0, &total));
    // book: grow
    DRV(cuMemAddressReserve(&base, 1024 * MIB, 0, 0, 0)); // addresses without memory
    for (size_t more = 2 * MIB; more <= 32 * MIB; more *= 2) {
        DRV(cuMemRelease(back(base + used, more))); // the mapping keeps the memory
        used += more;
        DRV(cuMemsetD32(base + used - 4, (unsigned)(used / MIB), 1));
        DRV(cuMemGetInfo(&free1, &total));
        printf("%2zu MiB of 1024 backed, %2zu MiB of memory taken\n", used / MIB,
               (free0 - free1) / MIB);
    }
    // book: end
    DRV(cuMemcpyDtoH(&first, base + 2 * MIB - 4, sizeof first));
    DRV(cuMemcpyDtoH(&last, base + used - 4, sizeof last));
    printf("written when it was small: %u; at its end: %u\n", first, last);
    DRV(cuMemUnmap(base, used));
    DRV(cuMemAddressFree(base, 1024 * MIB));
    return 0;
}

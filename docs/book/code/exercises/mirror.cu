// SPDX-License-Identifier: MIT
// mirror.cu: one piece of memory at two neighbouring ranges of addresses, by the driver API.
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

static CUmemAllocationProp gpu_0(void)
{
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = 0;
    return prop;
}

// book: mirror
// Addresses for twice as many bytes as there is memory: what is behind its end is its beginning.
static CUdeviceptr mirrored(size_t bytes)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop = gpu_0();
    CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr base;
    DRV(cuMemCreate(&handle, bytes, &prop, 0));
    DRV(cuMemAddressReserve(&base, 2 * bytes, 0, 0, 0));
    DRV(cuMemMap(base, bytes, 0, handle, 0));
    DRV(cuMemMap(base + bytes, bytes, 0, handle, 0)); // the same memory once more
    DRV(cuMemSetAccess(base, 2 * bytes, &access, 1));
    DRV(cuMemRelease(handle)); // the mappings keep the memory
    return base;
}
// book: end

int main(void)
{
    CUcontext context;
    size_t free0, free1, total;
    unsigned word[2] = {0, 0};
    DRV(cuInit(0));
    DRV(cuDevicePrimaryCtxRetain(&context, 0));
    DRV(cuCtxSetCurrent(context));
    DRV(cuMemGetInfo(&free0, &total));
    CUdeviceptr base = mirrored(2 * MIB);
    DRV(cuMemGetInfo(&free1, &total));
    DRV(cuMemsetD32(base + 2 * MIB - 4, 7, 2)); // two words: over the end
    DRV(cuMemcpyDtoH(&word[0], base + 2 * MIB - 4, 4));
    DRV(cuMemcpyDtoH(&word[1], base, 4));
    printf("4 MiB of addresses, %zu MiB of memory\n", (free0 - free1) / MIB);
    printf("last word %u, first word %u\n", word[0], word[1]);
    DRV(cuMemUnmap(base, 2 * MIB));
    DRV(cuMemUnmap(base + 2 * MIB, 2 * MIB));
    DRV(cuMemAddressFree(base, 4 * MIB));
    return 0;
}

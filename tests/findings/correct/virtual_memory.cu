// SPDX-License-Identifier: MIT
// virtual_memory.cu: memory of the last GPU at an address of our own, mapped for all; GPU 0 fills
// it, the last one reads it after an event. No peer access is enabled.
#include "correct.h"
#include <cuda.h>

#define DRIVER(call)                                                                               \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            fprintf(stderr, "%s: %d\n", #call, (int)result_);                                      \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

int main()
{
    struct gpu g[GPUS];
    CUmemAllocationProp prop = {};
    CUmemAccessDesc access[GPUS] = {};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    size_t bytes;
    count_gpus();
    for (int d = 0; d < gpus; d++) {
        g[d] = make_gpu(d);
        access[d].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access[d].location.id = d;
        access[d].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    struct gpu *last = &g[gpus - 1];
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = access[gpus - 1].location;
    DRIVER(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    DRIVER(cuMemCreate(&handle, bytes, &prop, 0));
    DRIVER(cuMemAddressReserve(&at, bytes, 0, 0, 0));
    DRIVER(cuMemMap(at, bytes, 0, handle, 0));
    DRIVER(cuMemSetAccess(at, bytes, access, gpus));
    CHECK(cudaSetDevice(0));
    fill<<<BLOCKS, BLOCK, 0, g[0].stream>>>((int *)at, 77);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(g[0].done, g[0].stream));
    CHECK(cudaSetDevice(gpus - 1));
    CHECK(cudaStreamWaitEvent(last->stream, g[0].done, 0));
    copy_plus<<<BLOCKS, BLOCK, 0, last->stream>>>(last->a, (const int *)at, 1);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(last->stream));
    int wrong = wrong_from(last->a, 78, 1);
    DRIVER(cuMemUnmap(at, bytes));
    DRIVER(cuMemAddressFree(at, bytes));
    DRIVER(cuMemRelease(handle));
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return wrong != 0;
}

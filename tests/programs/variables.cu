// SPDX-License-Identifier: MIT
// variables.cu: a __device__ variable is no allocation: it cannot be freed and has no IPC handle,
// and what its address is in are its own bytes. As an H200 answered
// (recorded/hgx-h200-1/frees.txt).
#include "check.h"
#include <cuda.h>

__device__ int small[3], words[1024];
__device__ char large[4 << 20];
__constant__ int fixed[64];
__managed__ int both[64];

static void expect(const char *call, int got, int want)
{
    HOLDS(got == want, "%s answers %d, not %d", call, got, want);
    cudaGetLastError();
}

static void refuse(char *at)
{
    cudaIpcMemHandle_t handle;
    expect("cudaIpcGetMemHandle", cudaIpcGetMemHandle(&handle, at), cudaErrorInvalidValue);
    expect("cudaFree", cudaFree(at), cudaErrorInvalidValue);
    expect("cudaFreeAsync", cudaFreeAsync(at, 0), cudaErrorInvalidValue);
    expect("cudaFreeHost", cudaFreeHost(at), cudaErrorInvalidValue);
    expect("cuMemFree", cuMemFree((CUdeviceptr)at), CUDA_ERROR_INVALID_VALUE);
    expect("cudaMemset", cudaMemset(at, 0, 4), cudaSuccess);
    expect("cudaDeviceSynchronize", cudaDeviceSynchronize(), cudaSuccess);
}

#define ASK(symbol, type)                                                                          \
    do {                                                                                           \
        char *at;                                                                                  \
        size_t bytes;                                                                              \
        MUST(cudaGetSymbolAddress((void **)&at, symbol));                                          \
        MUST(cudaGetSymbolSize(&bytes, symbol));                                                   \
        ask(#symbol, at, bytes, type);                                                             \
    } while (0)

static void ask(const char *name, char *at, size_t bytes, int type)
{
    for (size_t in = 0; in < bytes; in += bytes / 2) {
        struct cudaPointerAttributes a;
        CUdeviceptr base = 0;
        size_t size = 0;
        MUST(cudaPointerGetAttributes(&a, at + in));
        HOLDS(a.type == type && a.devicePointer == at + in && !a.hostPointer == (type != 3),
              "%s, byte %zu: type %d", name, in, (int)a.type);
        expect("cuMemGetAddressRange", cuMemGetAddressRange(&base, &size, (CUdeviceptr)(at + in)),
               CUDA_SUCCESS);
        HOLDS(base == (CUdeviceptr)at && size == bytes,
              "%s, byte %zu: it begins %ld bytes before, and has %zu", name, in,
              (long)((CUdeviceptr)at - base), size);
        refuse(at + in);
    }
}

int main()
{
    MUST(cudaFree(0));
    ASK(small, cudaMemoryTypeDevice);
    ASK(words, cudaMemoryTypeDevice);
    ASK(large, cudaMemoryTypeDevice);
    ASK(fixed, cudaMemoryTypeDevice);
    ASK(both, cudaMemoryTypeManaged);
    both[63] = 7; // it is still there
    puts("ok");
}

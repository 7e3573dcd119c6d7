/* SPDX-License-Identifier: MIT
 * vmm_access.cu: who may use mapped memory is what cuMemSetAccess says, for each device; enabling
 * peer access changes nothing about it. On every number of GPUs: each one's memory, used by the
 * next.
 *
 *     api-vmm-access grown   a vector that grows without being copied, over all GPUs
 *     api-vmm-access peer    peer access is enabled, but the access is missing: 700
 *     api-vmm-access fabric  another process's memory, by a fabric handle that goes through a pipe
 */
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>
#include <cuda_runtime.h>

#include "expect.h"

__global__ void add_one(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += 1;
}

static const size_t G = 2 << 20;

static CUmemGenericAllocationHandle make(int device)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = device;
    OK(cuMemCreate(&handle, G, &p, 0));
    return handle;
}

static void allow(CUdeviceptr at, size_t bytes, int device)
{
    CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemSetAccess(at, bytes, &d, 1));
}

/* Parts of the vector lie on different GPUs, one after the other; kernels on all of them use it. */
static void grown(int count)
{
    enum { N = 1000 };
    static int out[N];
    CUdeviceptr at;
    OK(cuMemAddressReserve(&at, G * (size_t)count, 0, 0, 0));
    for (int d = 0; d < count; d++) {
        CUmemGenericAllocationHandle handle = make(d);
        OK(cuMemMap(at + G * (size_t)d, G, 0, handle, 0));
        OK(cuMemRelease(handle));
        allow(at, G * (size_t)(d + 1), (d + 1) % count);
        allow(at, G * (size_t)(d + 1), 0);
        OK(cudaSetDevice((d + 1) % count));
        if (d == 0)
            OK(cudaMemcpy((void *)at, out, sizeof out, cudaMemcpyHostToDevice));
        add_one<<<8, 128>>>((int *)at, N);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaMemcpy(out, (void *)at, sizeof out, cudaMemcpyDeviceToHost));
    EXPECT_IS(out[0], count);
    EXPECT_IS(out[N - 1], count);
    OK(cuMemUnmap(at, G * (size_t)count));
    EXPECT_IS(cudaMemset((void *)at, 0, 4), cudaErrorInvalidValue);
    OK(cuMemAddressFree(at, G * (size_t)count));
}

/* Virtual milliseconds that a copy takes on the current GPU. */
static float copy_ms(void *dst, CUdeviceptr src)
{
    cudaEvent_t start, stop;
    float ms;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaEventRecord(start));
    OK(cudaMemcpyAsync(dst, (void *)src, G, cudaMemcpyDeviceToDevice));
    OK(cudaEventRecord(stop));
    OK(cudaEventSynchronize(stop));
    OK(cudaEventElapsedTime(&ms, start, stop));
    return ms;
}

/* A copy goes over the link where the mapping allows the other GPU, else through the host. */
static void copied()
{
    CUdeviceptr at;
    void *here;
    OK(cuMemAddressReserve(&at, G, 0, 0, 0));
    OK(cuMemMap(at, G, 0, make(1), 0));
    allow(at, G, 1);
    OK(cudaMalloc(&here, G));
    float staged = copy_ms(here, at);
    allow(at, G, 0);
    float direct = copy_ms(here, at);
    EXPECT(direct * 3 < staged);
}

/* At a multiple of what is asked for, beside ranges that are not; nothing overlaps. */
static void aligned()
{
    CUdeviceptr at[3];
    const size_t alignment[3] = {0, 16 * G, 4 * G};
    for (int i = 0; i < 3; i++) {
        OK(cuMemAddressReserve(&at[i], G, alignment[i], 0, 0));
        EXPECT(alignment[i] == 0 || at[i] % alignment[i] == 0);
    }
    EXPECT(at[0] != at[1] && at[1] != at[2] && at[0] != at[2]);
    EXPECT_IS(cuMemAddressReserve(&at[0], G, 3 * G, 0, 0), CUDA_ERROR_INVALID_VALUE);
    for (CUdeviceptr one : at)
        OK(cuMemAddressFree(one, G));
}

/* Copies and memsets go over the seam of two mappings, whose memory lies the other way round; not
 * past the last one (recorded on two H200). */
static void seams()
{
    enum { N = 2 * (2 << 20) / sizeof(int) };
    static int numbers[N + 1], back[N];
    CUdeviceptr at;
    CUmemGenericAllocationHandle first = make(0), second = make(0);
    for (int i = 0; i < N; i++)
        numbers[i] = i;
    OK(cuMemAddressReserve(&at, 3 * G, 0, 0, 0));
    OK(cuMemMap(at + G, G, 0, first, 0));
    OK(cuMemMap(at, G, 0, second, 0));
    allow(at, 2 * G, 0);
    OK(cudaMemcpy((void *)at, numbers, 2 * G, cudaMemcpyHostToDevice));
    add_one<<<N / 128, 128>>>((int *)at, N);
    OK(cudaMemcpy(back, (void *)at, G, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(back + N / 2, (void *)(at + G), G, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += back[i] != i + 1;
    EXPECT_IS(wrong, 0);
    OK(cudaMemset((void *)(at + G - 8), 7, 16));
    OK(cudaMemcpy(back, (void *)(at + G - 12), 24, cudaMemcpyDeviceToHost));
    EXPECT(back[0] == N / 2 - 2 && back[1] == 0x07070707 && back[4] == 0x07070707);
    EXPECT_IS(back[5], N / 2 + 3);
    EXPECT_IS(cudaMemcpy((void *)at, numbers, 2 * G + 1, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_IS(cudaMemset((void *)(at + G), 0, G + 1), cudaErrorInvalidValue);
    OK(cuMemUnmap(at, 2 * G));
    OK(cuMemRelease(first));
    OK(cuMemRelease(second));
    OK(cuMemAddressFree(at, 3 * G));
}

static void peer()
{
    CUdeviceptr at;
    OK(cuMemAddressReserve(&at, G, 0, 0, 0));
    OK(cuMemMap(at, G, 0, make(1), 0));
    allow(at, G, 1);
    OK(cudaSetDevice(0));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    add_one<<<1, 1>>>((int *)at, 1);
    EXPECT_IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle)
{
    CUdeviceptr at;
    OK(cuMemAddressReserve(&at, G, 0, 0, 0));
    OK(cuMemMap(at, G, 0, handle, 0));
    allow(at, G, 0);
    return at;
}

/* Makes the memory, sends its handle, and ends it when the other one has used it. */
static void lend(int to, int from)
{
    CUmemAllocationProp p = {};
    CUmemGenericAllocationHandle handle;
    CUmemFabricHandle name;
    int value = 41, used;
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    OK(cudaFree(0));
    OK(cuMemCreate(&handle, G, &p, 0));
    EXPECT_IS(cuMemExportToShareableHandle(&name, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0),
              CUDA_ERROR_INVALID_VALUE);
    OK(cuMemRelease(handle));
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    OK(cuMemCreate(&handle, G, &p, 0));
    OK(cuMemExportToShareableHandle(&name, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0));
    CUdeviceptr at = map(handle);
    OK(cudaMemcpy((void *)at, &value, sizeof value, cudaMemcpyHostToDevice));
    EXPECT_IS(write(to, &name, sizeof name), sizeof name);
    EXPECT_IS(read(from, &used, sizeof used), sizeof used);
    OK(cudaMemcpy(&value, (void *)at, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT_IS(value, 42);
    OK(cuMemUnmap(at, G));
    OK(cuMemRelease(handle));
    EXPECT_IS(write(to, &used, sizeof used), sizeof used);
}

static void borrow(int from, int to)
{
    CUmemGenericAllocationHandle handle;
    CUmemFabricHandle name, wrong;
    int value = 0;
    EXPECT_IS(read(from, &name, sizeof name), sizeof name);
    wrong = name;
    wrong.data[20] ^= 1;
    EXPECT_IS(cuMemImportFromShareableHandle(&handle, &wrong, CU_MEM_HANDLE_TYPE_FABRIC),
              CUDA_ERROR_INVALID_VALUE);
    OK(cuMemImportFromShareableHandle(&handle, &name, CU_MEM_HANDLE_TYPE_FABRIC));
    CUdeviceptr at = map(handle);
    OK(cuMemRelease(handle));
    add_one<<<1, 1>>>((int *)at, 1);
    OK(cudaDeviceSynchronize());
    OK(cuMemUnmap(at, G));
    EXPECT_IS(write(to, &value, sizeof value), sizeof value);
    EXPECT_IS(read(from, &value, sizeof value), sizeof value);
    /* The bytes did not keep the memory. */
    EXPECT_IS(cuMemImportFromShareableHandle(&handle, &name, CU_MEM_HANDLE_TYPE_FABRIC),
              CUDA_ERROR_INVALID_VALUE);
}

static int fabric()
{
    int there[2], back[2], status = 1, value;
    EXPECT(pipe(there) == 0 && pipe(back) == 0);
    pid_t child = fork(); /* before the first call of CUDA */
    if (child == 0) {
        lend(there[1], back[0]);
        return 0;
    }
    OK(cudaFree(0));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0));
    EXPECT_IS(value, 1);
    close(there[1]);
    borrow(there[0], back[1]);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "fabric") == 0)
        return fabric();
    int count = 0, value = 0;
    OK(cudaGetDeviceCount(&count));
    OK(cudaFree(0));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    EXPECT_IS(value, 1);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                            0));
    EXPECT_IS(value, 1);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    EXPECT_IS(value, 0);
    if (argc == 2 && strcmp(argv[1], "peer") == 0) {
        copied();
        peer();
    } else {
        aligned();
        seams();
        grown(count);
    }
    return 0;
}

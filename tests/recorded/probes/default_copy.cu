// SPDX-License-Identifier: MIT
// default_copy.cu: does a copy between two GPUs in one's default stream wait for the other's? And
// how long do the steps of virtual memory management take?
//     nvcc -o default_copy default_copy.cu -lcuda && ./default_copy
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        int check_error = (int)(call);                                                             \
        if (check_error) {                                                                         \
            printf("line %d: %d\n", __LINE__, check_error);                                        \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

static const int TIMES = 12;

static double now_us()
{
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double, std::micro>(now).count();
}

static int steps()
{
    const size_t size = (size_t)1 << 30;
    std::vector<double> took[3];
    CUdeviceptr at;
    CUmemAllocationProp p = {};
    CUmemAccessDesc d = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    d.location = p.location;
    d.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK(cuMemAddressReserve(&at, TIMES * size, 0, 0, 0));
    for (int i = 0; i < TIMES; i++) {
        CUmemGenericAllocationHandle handle;
        double start = now_us();
        CHECK(cuMemCreate(&handle, size, &p, 0));
        double made = now_us();
        CHECK(cuMemMap(at + i * size, size, 0, handle, 0));
        double mapped = now_us();
        CHECK(cuMemSetAccess(at + i * size, size, &d, 1));
        double times[3] = {made - start, mapped - made, now_us() - mapped};
        for (int k = 0; k < 3; k++)
            took[k].push_back(times[k]);
    }
    printf("1 GiB, %d times: cuMemCreate, cuMemMap, cuMemSetAccess\n", TIMES);
    for (auto &all : took) {
        std::sort(all.begin(), all.end());
        printf("median %.1f us, least %.1f, most %.1f\n", all[TIMES / 2], all.front(), all.back());
    }
    return 0;
}

__global__ void late(long long cycles, int *p)
{
    long long start = clock64();
    while (clock64() - start < cycles)
        ;
    *p = 7;
}

/* A slow kernel writes on GPU 1; a copy in GPU 0's default stream brings what it finds. */
static int copy(int *mine, int *there, bool peer)
{
    int value;
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemset(mine, 0, sizeof *mine));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(1));
    CHECK(cudaMemset(there, 0, sizeof *there));
    CHECK(cudaDeviceSynchronize());
    late<<<1, 1>>>(50000000, there);
    CHECK(cudaSetDevice(0));
    CHECK(peer ? cudaMemcpyPeerAsync(mine, 0, there, 1, sizeof *mine, 0)
               : cudaMemcpyAsync(mine, there, sizeof *mine, cudaMemcpyDefault, 0));
    CHECK(cudaStreamSynchronize(0));
    CHECK(cudaMemcpy(&value, mine, sizeof value, cudaMemcpyDefault));
    printf("%s in GPU 0's default stream brought %d (7: it waited for GPU 1's)\n",
           peer ? "cudaMemcpyPeerAsync" : "cudaMemcpyAsync", value);
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceSynchronize());
    return 0;
}

int main()
{
    int *mine, *there;
    CHECK(cudaSetDevice(1));
    CHECK(cudaMalloc(&there, sizeof *there));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&mine, sizeof *mine));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    return steps() || copy(mine, there, false) || copy(mine, there, true);
}

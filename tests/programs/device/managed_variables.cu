/* SPDX-License-Identifier: MIT
 * managed_variables.cu: __managed__ variables: one object, for the host and for every GPU.
 */
#include "../check.h"

struct pair {
    int a;
    double b;
};

__managed__ int counter = 3, doubled;
__device__ __managed__ float table[4] = {1, 2, 3};
static __managed__ pair both = {4, 0.5};

namespace inner
{
__managed__ unsigned long long sum;
__device__ void add(unsigned value)
{
    atomicAdd_system(&sum, (unsigned long long)value);
}
} // namespace inner

__global__ void work(int device)
{
    inner::add(threadIdx.x);
    if (threadIdx.x > 0)
        return;
    counter += device + 1;
    doubled = 2 * counter;
    table[3] += table[device % 3];
    both.b *= 2;
}

__global__ void read(const float *where, float *out)
{
    *out = where[1] + (where == table);
}

int main()
{
    int gpus, expected = 10;
    float *out, whole[4];
    double b = 0.5;
    counter = 10;
    HOLDS(table[2] == 3 && both.a == 4 && doubled == 0 && inner::sum == 0, "first values");
    MUST(cudaGetDeviceCount(&gpus));
    for (int i = 0; i < gpus; i++) {
        MUST(cudaSetDevice(i));
        work<<<1, 64>>>(i);
        MUST(cudaGetLastError());
        MUST(cudaDeviceSynchronize());
        expected += i + 1;
        b *= 2;
        HOLDS(counter == expected && doubled == 2 * expected, "%d %d", counter, doubled);
        HOLDS(both.b == b && inner::sum == 2016ull * (i + 1), "%g %llu", both.b, inner::sum);
    }
    MUST(cudaMallocManaged(&out, sizeof *out));
    read<<<1, 1>>>(table, out);
    MUST(cudaDeviceSynchronize());
    HOLDS(*out == 3, "%g", *out);
    MUST(cudaMemcpyFromSymbol(whole, table, sizeof whole));
    HOLDS(whole[0] == 1 && whole[3] == table[3] && whole[3] > 0, "%g", whole[3]);
    struct cudaPointerAttributes about;
    MUST(cudaPointerGetAttributes(&about, &counter));
    HOLDS(about.type == cudaMemoryTypeManaged, "%d", (int)about.type);
    printf("PASS\n");
    return 0;
}

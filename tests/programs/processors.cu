/* SPDX-License-Identifier: MIT
 * processors.cu: runs the kernel that its argument names, on many blocks, and stays until its input
 * ends. One more argument says what the kernel's second parameter points to: "same", what the first
 * points to; "pinned" or "registered" host memory. test_processors.py counts the node's processes
 * to see which of these kernels run on several processors.
 */
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>
#include <ctime>

constexpr int COUNT = 1 << 20, ROUNDS = 300, TOLD = COUNT / 256;

__device__ int work(int x)
{
    for (int i = 0; i < ROUNDS; i++)
        x = x * 5 + (x >> 3);
    return x;
}

__device__ __noinline__ int apart(int x)
{
    return work(x + 1) - 1;
}

__device__ __noinline__ void tell(int *told)
{
    atomicAdd(told, 1);
}

__device__ __noinline__ void keep_quiet(int *told)
{
    told[1] = 0;
}

__device__ int index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

__global__ void plain(int *value, int *)
{
    value[index()] = work(index());
}

__global__ void calls_plain(int *value, int *)
{
    value[index()] = apart(index());
}

/* Its first block takes long, and each block tells when its last thread is done. */
__global__ void long_first(int *value, int *told)
{
    int x = index();
    for (int i = 0; i < (blockIdx.x == 0 ? 2000 : 1); i++)
        x = work(x);
    value[index()] = x;
    if (threadIdx.x == blockDim.x - 1)
        told[blockIdx.x] = x | 1;
}

/* The same, and the halves of each block wait for each other. */
__global__ void long_first_with_tiles(int *value, int *told)
{
    __shared__ cooperative_groups::block_tile_memory<256> memory;
    const auto block = cooperative_groups::this_thread_block(memory);
    const auto half = cooperative_groups::tiled_partition<128>(block);
    int x = index();
    for (int i = 0; i < (blockIdx.x == 0 ? 20 : 1); i++) {
        x = work(x);
        half.sync();
    }
    value[index()] = x;
    if (threadIdx.x == blockDim.x - 1)
        told[blockIdx.x] = 1;
}

__global__ void adds_up(int *value, int *told)
{
    value[index()] = work(index());
    if (threadIdx.x == 0)
        atomicAdd(told, 1);
}

__global__ void adds_in_a_loop(int *value, int *told)
{
    for (int i = 0; i < 4; i++)
        atomicMax(&told[i & 1], value[index()] = work(index() + i));
}

__global__ void adds_in_shared_memory(int *value, int *told)
{
    __shared__ int sum[2];
    if (threadIdx.x < 2)
        sum[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sum[threadIdx.x & 1], value[index()] = work(index()));
    __syncthreads();
    if (threadIdx.x < 2)
        atomicSub(&told[threadIdx.x], sum[threadIdx.x]);
}

__global__ void uses_a_sum(int *value, int *told)
{
    value[index()] = work(index()) + atomicAdd(told, 1);
}

__global__ void adds_and_reads(int *value, int *told)
{
    value[index()] = work(index()) + told[1];
    atomicAdd(told, 1);
}

__global__ void adds_what_it_stores(int *value, int *)
{
    value[index()] = work(index());
    atomicAdd(&value[index() / 2], 1);
}

__global__ void adds_floats(int *value, int *told)
{
    value[index()] = work(index());
    atomicAdd((float *)told, 0.1f);
}

__global__ void two_kinds(int *value, int *told)
{
    value[index()] = work(index());
    atomicAdd(&told[0], 1);
    atomicMax(&told[1], value[index()]);
}

__global__ void adds_through_memory(int *value, int *told)
{
    int *const *where = (int *const *)&value[COUNT - 2];
    value[index() / 2] = work(index());
    atomicAdd(index() < COUNT ? told : *where, 1);
}

__global__ void calls_atomic(int *value, int *told)
{
    value[index()] = work(index());
    if (threadIdx.x == 0)
        tell(told);
}

__global__ void calls_pointer(int *value, int *told)
{
    void (*const function[])(int *) = {tell, keep_quiet};
    value[index()] = work(index());
    function[value[index()] & 1](told);
}

__global__ void has_volatile(int *value, int *told)
{
    value[index()] = work(index()) + *(volatile int *)told;
}

__global__ void has_printf(int *value, int *told)
{
    value[index()] = work(index());
    if (told == nullptr)
        printf("nowhere\n");
}

int main(int, char **argument)
{
    static const struct {
        const char *name;
        void (*kernel)(int *, int *);
    } kernels[] = {{"plain", plain},
                   {"calls_plain", calls_plain},
                   {"adds_up", adds_up},
                   {"adds_in_a_loop", adds_in_a_loop},
                   {"adds_in_shared_memory", adds_in_shared_memory},
                   {"uses_a_sum", uses_a_sum},
                   {"adds_and_reads", adds_and_reads},
                   {"adds_what_it_stores", adds_what_it_stores},
                   {"adds_floats", adds_floats},
                   {"long_first", long_first},
                   {"long_first_with_tiles", long_first_with_tiles},
                   {"two_kinds", two_kinds},
                   {"adds_through_memory", adds_through_memory},
                   {"calls_atomic", calls_atomic},
                   {"calls_pointer", calls_pointer},
                   {"has_volatile", has_volatile},
                   {"has_printf", has_printf}};
    alignas(4096) static int registered[TOLD];
    const char *where = argument[2] ? argument[2] : "";
    int *value, *told = registered;
    cudaMalloc(&value, COUNT * sizeof *value);
    if (strcmp(where, "same") == 0)
        told = value;
    else if (strcmp(where, "pinned") == 0)
        cudaMallocHost(&told, TOLD * sizeof *told);
    else if (strcmp(where, "registered") == 0)
        cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault);
    else
        cudaMalloc(&told, TOLD * sizeof *told);
    cudaMemset(told, 0, TOLD * sizeof *told);
    for (const auto &k : kernels)
        if (strcmp(k.name, argument[1]) == 0)
            k.kernel<<<COUNT / 256, 256>>>(value, told);
    bool early = false; // the last block had ended before the first
    if (strcmp(argument[1], "long_first") == 0) {
        const volatile int *last = &told[TOLD - 1], *first = told;
        for (time_t end = time(nullptr) + 60; *last == 0 && time(nullptr) < end;)
            ;
        early = *first == 0;
    }
    int error = cudaDeviceSynchronize(), sum = early;
    if (strcmp(argument[1], "long_first_with_tiles") == 0)
        for (int i = 0; i < TOLD; i++)
            sum += told[i];
    if (told != value && strcmp(argument[1], "adds_up") == 0)
        cudaMemcpy(&sum, told, sizeof sum, cudaMemcpyDefault);
    printf("%s: %d %d\n", argument[1], error, sum);
    fflush(stdout);
    getchar();
    return 0;
}

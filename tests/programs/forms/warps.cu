/* SPDX-License-Identifier: MIT
 * warps.cu: operations of warps.
 */
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void reduce(int *out, const int *in)
{
    __shared__ int s[32];
    int t = threadIdx.x, w = t / 32, lane = t % 32;
    int v = in[blockIdx.x * blockDim.x + t];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (lane == 0)
        s[w] = v;
    __syncthreads();
    if (w == 0) {
        v = lane < blockDim.x / 32 ? s[lane] : 0;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(~0u, v, d);
        if (t == 0)
            out[blockIdx.x] = v;
    }
}
__global__ void votes(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    unsigned b = __ballot_sync(~0u, v % 3 == 0);
    int any = __any_sync(~0u, v == 77), all = __all_sync(~0u, v > -100);
    int c = __syncthreads_count(v & 1), o = __syncthreads_or(v == 5);
    int a = __syncthreads_and(v < 1000);
    out[i] = b + any * 3 + all * 5 + c * 7 + o * 11 + a * 13 + __activemask() * 17;
}
__global__ void scan(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[i];
#pragma unroll 1
    for (int d = 1; d <= blockDim.x / 16; d *= 2) {
        int o = __shfl_up_sync(~0u, v, d);
        if (lane >= d)
            v += o;
    }
    int x = __shfl_xor_sync(~0u, v, 5, 16);
    out[i] = v + __shfl_sync(~0u, x, i % 32, 8);
}
__global__ void tiles(int *out, const int *in)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_xor(v, d);
    tile.sync();
    out[i] = v + tile.any(v == 9);
}
__global__ void small_tiles(int *out, const int *in)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_xor(v, d);
    out[i] = v;
}
__global__ void more(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    v += __reduce_add_sync(~0u, v) + __match_any_sync(~0u, v);
    out[i] = v;
}
__global__ void lanes(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    if (threadIdx.x % 32 < 20)
        v += __shfl_down_sync(0xfffffu, v, 1);
    out[i] = v;
}
__global__ void teams(int *out, const int *in) // each warp goes another way
{
    __shared__ int s[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    for (int k = 0; k < threadIdx.x / 32; k++)
        v += __shfl_xor_sync(~0u, v, 1 + k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    out[i] = v + s[7 - threadIdx.x / 32];
}
template <class Kernel> void run(Kernel kernel, int threads, int *p, int *h, int n)
{
    cudaMemset(p + n, 0, n * 4);
    kernel<<<4, threads>>>(p + n, p);
    cudaMemcpy(h, p + n, n * 4, cudaMemcpyDefault);
    for (int i = 0; i < n; i++)
        printf("%x%c", h[i], i % 16 == 15 ? '\n' : ' ');
}
int main()
{
    const int n = 1024;
    int h[n], *p;
    cudaMalloc(&p, 2 * sizeof h);
    for (int i = 0; i < n; i++)
        h[i] = i * 37 % 101;
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    run(reduce, 256, p, h, n);
    run(votes, 256, p, h, n);
    run(scan, 256, p, h, n);
    run(tiles, 256, p, h, n);
    run(more, 256, p, h, n);
    run(teams, 256, p, h, n);
    run(small_tiles, 256, p, h, n);
    run(lanes, 256, p, h, n);
    run(votes, 240, p, h, n);
}

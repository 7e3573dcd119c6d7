/* SPDX-License-Identifier: MIT
 * groups.cu: cooperative groups: sums by tiles of every size, and what a group says of itself.
 */
#include <cooperative_groups.h>

#include <cstdio>

namespace cg = cooperative_groups;

/* out[0]: the block's sum; out[1 + i]: what tile i sums. */
template <unsigned int Size> __global__ void sums(int *out)
{
    __shared__ int part[128];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<Size> tile = cg::tiled_partition<Size>(block);
    int value = (int)block.thread_rank() + 1;
    for (unsigned int step = tile.size() / 2; step > 0; step /= 2)
        value += tile.shfl_down(value, step);
    if (tile.thread_rank() == 0) {
        part[tile.meta_group_rank()] = value;
        out[1 + tile.meta_group_rank()] = value;
    }
    block.sync();
    if (block.thread_rank() == 0) {
        int all = 0;
        for (unsigned int i = 0; i < tile.meta_group_size(); i++)
            all += part[i];
        out[0] = all;
    }
}

__global__ void votes(unsigned int *out)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    unsigned int odd = tile.ballot(tile.thread_rank() % 2);
    int any = tile.any(tile.meta_group_rank() == 3), all = tile.all(block.thread_rank() < 16);
    int turned = tile.shfl_xor((int)tile.thread_rank(), 7), first = tile.shfl(turned, 0);
    cg::sync(tile);
    cg::sync(block);
    out[block.thread_rank()] = odd | (unsigned)any << 8 | (unsigned)all << 9 |
                               (unsigned)turned << 12 | (unsigned)first << 16;
}

template <unsigned int Size> static int check(dim3 shape)
{
    int *d, h[129], n = (int)(shape.x * shape.y * shape.z), bad = 0;
    cudaMalloc(&d, sizeof h);
    sums<Size><<<1, shape>>>(d);
    if (cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess)
        return 1;
    bad += h[0] != n * (n + 1) / 2;
    for (int i = 0; i < n / (int)Size; i++) {
        int first = i * (int)Size + 1, last = first + (int)Size - 1;
        bad += h[1 + i] != (first + last) * (int)Size / 2;
    }
    cudaFree(d);
    if (bad)
        std::printf("tiles of %u: %d wrong\n", Size, bad);
    return bad;
}

static int check_votes()
{
    unsigned int *d, h[32];
    int bad = 0;
    cudaMalloc(&d, sizeof h);
    votes<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (unsigned int i = 0; i < 32; i++)
        bad += h[i] != (0xaau | (i / 8 == 3) << 8 | (i < 16) << 9 | (7 - i % 8) << 12 | 7u << 16);
    cudaFree(d);
    if (bad)
        std::printf("votes: %d wrong, the first is %x\n", bad, h[0]);
    return bad;
}

int main()
{
    int bad = 0;
    const dim3 shapes[] = {dim3(32), dim3(128), dim3(8, 4, 2), dim3(64, 1, 1)};
    for (dim3 shape : shapes)
        bad += check<1>(shape) + check<2>(shape) + check<4>(shape) + check<8>(shape) +
               check<16>(shape) + check<32>(shape);
    bad += check_votes();
    std::printf("groups: %s\n", bad ? "wrong" : "right");
    return bad != 0;
}

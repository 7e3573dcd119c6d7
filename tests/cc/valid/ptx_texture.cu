// SPDX-License-Identifier: MIT
// Textures, surfaces and clusters in inline PTX, beside the functions of CUDA that do the same.
// prints: ptx textures: 0, clusters: 0
#include <cuda_runtime.h>
#include <stdio.h>

enum { W = 8, H = 4 };

__device__ int reads(cudaTextureObject_t plane, cudaTextureObject_t linear, float x, float y)
{
    float a, b, c, d, level, slope, gathered;
    unsigned width, height;
    float4 four = tex2Dgather<float4>(plane, x, y, 0);

    asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(plane), "f"(x), "f"(y));
    asm volatile("tex.level.2d.v4.f32.f32 {%0, _, _, _}, [%1, {%2, %3}], %2;"
                 : "=f"(level)
                 : "l"(plane), "f"(x), "f"(y));
    asm volatile("tex.grad.2d.v4.f32.f32 {%0, _, _, _}, [%1, {%2, %3}], {%2, %3}, {%3, %2};"
                 : "=f"(slope)
                 : "l"(plane), "f"(x), "f"(y));
    asm volatile("tld4.r.2d.v4.f32.f32 {%0, _, _, _}, [%1, {%2, %3}];"
                 : "=f"(gathered)
                 : "l"(plane), "f"(x), "f"(y));
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(plane));
    asm volatile("txq.height.b32 %0, [%1];" : "=r"(height) : "l"(plane));
    int wrong = a != tex2D<float>(plane, x, y) || b != 0 || c != 0 || d != 0;
    wrong += level != a || slope != a || gathered != four.x || width != W || height != H;
    asm volatile("tex.1d.v4.f32.s32 {%0, _, _, _}, [%1, {%2}];" : "=f"(a) : "l"(linear), "r"(5));
    return wrong + (a != tex1Dfetch<float>(linear, 5));
}

__device__ int writes(cudaSurfaceObject_t surface)
{
    float out, clamped, inside;
    unsigned width;

    asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], {%3};" ::"l"(surface), "r"(8), "r"(1),
                 "f"(6.5f)
                 : "memory");
    asm volatile("sust.b.2d.b32.zero [%0, {%1, %2}], {%3};" ::"l"(surface), "r"(4 * W), "r"(1),
                 "f"(1.5f)
                 : "memory");
    asm volatile("suld.b.2d.b32.zero {%0}, [%1, {%2, %3}];"
                 : "=f"(out)
                 : "l"(surface), "r"(-4), "r"(1));
    asm volatile("suld.b.2d.b32.clamp {%0}, [%1, {%2, %3}];"
                 : "=f"(clamped)
                 : "l"(surface), "r"(4 * W), "r"(1));
    asm volatile("suld.b.2d.b32.trap {%0}, [%1, {%2, %3}];"
                 : "=f"(inside)
                 : "l"(surface), "r"(8), "r"(1));
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(width) : "l"(surface));
    return (inside != 6.5f || surf2Dread<float>(surface, 8, 1) != 6.5f) + (out != 0) +
           (clamped != surf2Dread<float>(surface, 4 * (W - 1), 1)) + (width != W);
}

__global__ void textures(int *wrong, cudaTextureObject_t plane, cudaTextureObject_t linear,
                         cudaSurfaceObject_t surface)
{
    *wrong = 0;
    for (int i = 0; i < 20; i++)
        *wrong += reads(plane, linear, 0.7f * (float)i - 1, 0.4f * (float)i - 1);
    *wrong += writes(surface);
}

// Each block writes its rank into the next one's memory.
__global__ void __cluster_dims__(4, 1, 1) clusters(int *wrong)
{
    __shared__ unsigned mine;
    unsigned rank, ranks, next, owner, at;
    unsigned own = (unsigned)__cvta_generic_to_shared(&mine);

    asm volatile("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %cluster_nctarank;" : "=r"(ranks));
    asm volatile("mov.u32 %0, %clusterid.x;" : "=r"(at));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(next)
                 : "r"(own), "r"((rank + 1) % 4));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(owner) : "r"(next));
    mine = 99;
    asm volatile("barrier.cluster.arrive.release;\n\tbarrier.cluster.wait.acquire;" ::: "memory");
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(next), "r"(rank) : "memory");
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
    wrong[blockIdx.x] = rank != blockIdx.x % 4 || ranks != 4 || owner != (rank + 1) % 4 ||
                        mine != (rank + 3) % 4 || at != blockIdx.x / 4;
}

static cudaArray_t array()
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t made;
    float texel[W * H];
    for (int i = 0; i < W * H; i++)
        texel[i] = (float)(i * 5 % 31);
    cudaMallocArray(&made, &format, W, H, cudaArraySurfaceLoadStore | cudaArrayTextureGather);
    cudaMemcpy2DToArray(made, 0, 0, texel, W * 4, W * 4, H, cudaMemcpyHostToDevice);
    return made;
}

int main()
{
    cudaResourceDesc of = {}, row = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t plane, linear;
    cudaSurfaceObject_t surface;
    int *wrong, clustered = 0;

    cudaMallocManaged(&wrong, 8 * sizeof *wrong);
    of.resType = cudaResourceTypeArray;
    of.res.array.array = array();
    how.filterMode = cudaFilterModeLinear;
    how.addressMode[0] = cudaAddressModeClamp;
    how.addressMode[1] = cudaAddressModeBorder;
    cudaCreateTextureObject(&plane, &of, &how, nullptr);
    of.res.array.array = array();
    cudaCreateSurfaceObject(&surface, &of);
    row.resType = cudaResourceTypeLinear;
    cudaMalloc(&row.res.linear.devPtr, 64);
    cudaMemset(row.res.linear.devPtr, 0x41, 64);
    row.res.linear.desc = cudaCreateChannelDesc<float>();
    row.res.linear.sizeInBytes = 64;
    how = {};
    cudaCreateTextureObject(&linear, &row, &how, nullptr);
    textures<<<1, 1>>>(wrong, plane, linear, surface);
    cudaDeviceSynchronize();
    int textured = *wrong;
    clusters<<<8, 1>>>(wrong);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++)
        clustered += wrong[i];
    printf("ptx textures: %d, clusters: %d\n", textured, clustered + (int)cudaGetLastError());
    return 0;
}

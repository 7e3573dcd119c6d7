/* SPDX-License-Identifier: MIT
 * report.cu: uses what its arguments name, for test_report.py; without arguments, a kernel and a
 * memset. With -DDEVICE_CODE its kernels use more.
 */
#include <cstring>

#include <cuda_profiler_api.h>
#include <mma.h>
#include <nccl.h>

#include "../../programs/check.h"

__global__ void twice(int *p)
{
    p[threadIdx.x] *= 2;
}

#ifdef DEVICE_CODE
__global__ void fetch(cudaTextureObject_t texture, float *out)
{
    *out = tex2D<float4>(texture, 0.5f, 0.5f).x;
}

__global__ void sine(float *p)
{
    *p = sinf(*p);
}

__global__ void saxpy(float *p)
{
    p[1] = p[0] * 3 + p[1];
}

__global__ void count(int *p)
{
    atomicAdd(p, 1);
}

__global__ void time_itself(long long *p)
{
    *p = clock64();
}

__global__ void multiply(float *out)
{
    using namespace nvcuda;
    __shared__ __half in[256];
    for (int i = (int)threadIdx.x; i < 256; i += 32)
        in[i] = __float2half(1.0f);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, in, 16);
    wmma::load_matrix_sync(b, in, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}

static void use_texture(float *out)
{
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaResourceDesc from = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    MUST(cudaMallocArray(&array, &format, 4, 4));
    from.resType = cudaResourceTypeArray;
    from.res.array.array = array;
    how.readMode = cudaReadModeNormalizedFloat;
    how.filterMode = cudaFilterModeLinear;
    MUST(cudaCreateTextureObject(&texture, &from, &how, nullptr));
    fetch<<<1, 1>>>(texture, out);
    MUST(cudaDeviceSynchronize());
    MUST(cudaDestroyTextureObject(texture));
    MUST(cudaFreeArray(array));
}

static void use_device_code(float *p)
{
    use_texture(p);
    sine<<<1, 1>>>(p);
    saxpy<<<1, 1>>>(p);
    count<<<1, 1>>>((int *)p);
    time_itself<<<1, 1>>>((long long *)p);
    multiply<<<1, 32>>>(p);
    MUST(cudaDeviceSynchronize());
}
#endif

static void use_managed()
{
    int *p;
    MUST(cudaMallocManaged(&p, 32 * sizeof *p));
    twice<<<1, 32>>>(p);
    MUST(cudaDeviceSynchronize());
    MUST(cudaFree(p));
}

static void use_time()
{
    cudaEvent_t from, to;
    float ms;
    MUST(cudaEventCreate(&from));
    MUST(cudaEventCreate(&to));
    MUST(cudaEventRecord(from));
    MUST(cudaEventRecord(to));
    MUST(cudaEventSynchronize(to));
    MUST(cudaEventElapsedTime(&ms, from, to));
    MUST(cudaEventDestroy(from));
    MUST(cudaEventDestroy(to));
}

static void use_nccl(float *p)
{
    ncclComm_t comm;
    int device = 0;
    HOLDS(ncclCommInitAll(&comm, 1, &device) == ncclSuccess, "ncclCommInitAll");
    HOLDS(ncclAllReduce(p, p + 64, 64, ncclFloat, ncclSum, comm, nullptr) == ncclSuccess, "sum");
    MUST(cudaDeviceSynchronize());
    HOLDS(ncclCommDestroy(comm) == ncclSuccess, "ncclCommDestroy");
}

int main(int argc, char **argv)
{
    float *p;
    int blocks;
    MUST(cudaMalloc(&p, 256 * sizeof *p));
    MUST(cudaMemset(p, 0, 256 * sizeof *p));
    twice<<<1, 32>>>((int *)p);
#ifdef DEVICE_CODE
    use_device_code(p);
#endif
    for (int i = 1; i < argc; i++) {
        const char *what = argv[i];
        if (strcmp(what, "managed") == 0)
            use_managed();
        else if (strcmp(what, "time") == 0)
            use_time();
        else if (strcmp(what, "nccl") == 0)
            use_nccl(p);
        else if (strcmp(what, "hint") == 0)
            MUST(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
        else if (strcmp(what, "profiler") == 0)
            MUST(cudaProfilerStart());
        else if (strcmp(what, "occupancy") == 0)
            MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, twice, 32, 0));
        else if (strcmp(what, "error") == 0)
            HOLDS(cudaSetDevice(99) == cudaErrorInvalidDevice && cudaGetLastError(), "no error");
        else if (strcmp(what, "refused") == 0)
            HOLDS(cudaMallocMipmappedArray(nullptr, nullptr, cudaExtent{}, 1, 0) ==
                          cudaErrorNotSupported &&
                      cudaGetLastError(),
                  "it is offered now");
    }
    MUST(cudaFree(p));
    return 0;
}

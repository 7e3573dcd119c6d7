/* SPDX-License-Identifier: MIT
 * pool.cu: stream-ordered allocation on every GPU, pools shared with peers, and the codes of wrong
 * calls. With an argument: one mistake, and the code of the wait behind it.
 */
#include <cstdio>
#include <cstring>

static int wrong;

static void expect(const char *what, long is, long should)
{
    if (is != should) {
        std::printf("%s: %ld, expected %ld\n", what, is, should);
        wrong++;
    }
}

__global__ void fill(int *p, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = value + i;
}

static void in_order(int gpus)
{
    const int n = 1003;
    int h[n];
    for (int d = 0; d < gpus; d++) {
        cudaStream_t s;
        int *p, *q;
        cudaSetDevice(d);
        cudaStreamCreate(&s);
        expect("malloc", cudaMallocAsync(&p, sizeof h, s), cudaSuccess);
        fill<<<(n + 255) / 256, 256, 0, s>>>(p, n, d);
        cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, s);
        expect("free", cudaFreeAsync(p, s), cudaSuccess);
        expect("free again", cudaFreeAsync(p, s), cudaErrorInvalidValue);
        expect("copy to it", cudaMemcpyAsync(p, h, 4, cudaMemcpyHostToDevice, s),
               cudaErrorInvalidValue);
        expect("malloc", cudaMallocAsync(&q, 64, s), cudaSuccess);
        expect("sync", cudaStreamSynchronize(s), cudaSuccess);
        expect("value", h[n - 1], d + n - 1);
        expect("cudaFree", cudaFree(q), cudaSuccess);
        expect("cudaFree after cudaFreeAsync", cudaFree(p), cudaErrorInvalidValue);
        cudaGetLastError();
    }
}

/* More than the GPU has, in turns: each free makes room for the next. */
static void in_turns()
{
    size_t free_bytes, all;
    cudaSetDevice(0);
    cudaMemGetInfo(&free_bytes, &all);
    for (int i = 0; i < 10; i++) {
        void *p;
        expect("malloc in turn", cudaMallocAsync(&p, free_bytes / 4 * 3, 0), cudaSuccess);
        expect("free in turn", cudaFreeAsync(p, 0), cudaSuccess);
    }
    void *p;
    expect("too large", cudaMallocAsync(&p, all * 2, 0), cudaErrorMemoryAllocation);
    expect("sync", cudaDeviceSynchronize(), cudaSuccess);
}

static unsigned long long attribute(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    unsigned long long value = ~0ull;
    expect("attribute", cudaMemPoolGetAttribute(pool, which, &value), cudaSuccess);
    return value;
}

static void pools(int gpus)
{
    cudaMemPoolProps props;
    cudaMemPool_t pool, at;
    unsigned long long threshold = ~0ull;
    int *p;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = gpus;
    expect("no such GPU", cudaMemPoolCreate(&pool, &props), cudaErrorInvalidValue);
    props.location.id = gpus - 1;
    expect("create", cudaMemPoolCreate(&pool, &props), cudaSuccess);
    expect("threshold", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold),
           cudaSuccess);
    expect("kept", attribute(pool, cudaMemPoolAttrReleaseThreshold) == threshold, 1);
    cudaSetDevice(gpus - 1);
    expect("malloc", cudaMallocFromPoolAsync(&p, 1000, pool, 0), cudaSuccess);
    expect("used", (long)attribute(pool, cudaMemPoolAttrUsedMemCurrent), 1000);
    expect("free", cudaFreeAsync(p, 0), cudaSuccess);
    expect("sync", cudaDeviceSynchronize(), cudaSuccess);
    expect("used", (long)attribute(pool, cudaMemPoolAttrUsedMemCurrent), 0);
    expect("high", (long)attribute(pool, cudaMemPoolAttrUsedMemHigh), 1000);
    expect("set", cudaDeviceSetMemPool(gpus - 1, pool), cudaSuccess);
    cudaDeviceGetMemPool(&at, gpus - 1);
    expect("is", at == pool, 1);
    expect("destroy", cudaMemPoolDestroy(pool), cudaSuccess);
    cudaDeviceGetMemPool(&at, gpus - 1);
    expect("default again", at != pool, 1);
    expect("destroyed", cudaMemPoolTrimTo(pool, 0), cudaErrorInvalidValue);
    cudaDeviceGetDefaultMemPool(&at, 0);
    expect("default stays", cudaMemPoolDestroy(at), cudaErrorInvalidValue);
    expect("not a pool's", cudaFreeAsync(&wrong, 0), cudaErrorInvalidValue);
    cudaGetLastError();
}

/* GPU 1 stores to a pool of GPU 0. */
static int store_from_peer(bool allowed)
{
    cudaMemPool_t pool;
    int *p, h = 0;
    cudaMemAccessDesc desc;
    memset(&desc, 0, sizeof desc);
    desc.location.type = cudaMemLocationTypeDevice;
    desc.location.id = 1;
    desc.flags = cudaMemAccessFlagsProtReadWrite;
    cudaSetDevice(0);
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMallocAsync(&p, 4, 0);
    cudaDeviceSynchronize();
    if (allowed && cudaMemPoolSetAccess(pool, &desc, 1) != cudaSuccess)
        return -1;
    cudaMemAccessFlags flags;
    cudaMemPoolGetAccess(&flags, pool, &desc.location);
    expect("flags", flags, allowed ? 3 : 0);
    cudaSetDevice(1);
    cudaDeviceEnablePeerAccess(0, 0); /* counts for cudaMalloc only */
    fill<<<1, 1>>>(p, 1, 7);
    int code = cudaDeviceSynchronize();
    if (code == cudaSuccess) {
        cudaMemcpy(&h, p, 4, cudaMemcpyDefault);
        expect("stored", h, 7);
    }
    return code;
}

/* The other stream's kernel was issued first, but nothing orders the free after it. */
static int free_too_early()
{
    cudaStream_t a, b;
    int *p;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaMallocAsync(&p, 4096, a);
    cudaStreamSynchronize(a);
    fill<<<4, 256, 0, b>>>(p, 1024, 0);
    cudaFreeAsync(p, a);
    return cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
    int gpus, code = 0;
    cudaGetDeviceCount(&gpus);
    if (argc > 1) {
        code = strcmp(argv[1], "early") == 0 ? free_too_early()
                                             : store_from_peer(strcmp(argv[1], "allowed") == 0);
        std::printf("%d%s\n", code, wrong ? " wrong" : "");
        return 0;
    }
    in_order(gpus);
    in_turns();
    pools(gpus);
    std::printf("pools on %d GPUs: %s\n", gpus, wrong ? "wrong" : "right");
    return wrong != 0;
}

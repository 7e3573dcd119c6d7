/* SPDX-License-Identifier: MIT
 * managed.cu: one buffer of managed memory for the host and every GPU, and the codes of wrong
 * calls.
 */
#include <cstdio>

static int wrong;

static void expect(const char *what, long is, long should)
{
    if (is != should) {
        std::printf("%s: %ld, expected %ld\n", what, is, should);
        wrong++;
    }
}

__global__ void add(int *p, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += value;
}

static void every_gpu_in_turn(int gpus)
{
    const int n = 1003;
    int *p, sum = 0;
    expect("malloc", cudaMallocManaged(&p, n * sizeof *p), cudaSuccess);
    for (int i = 0; i < n; i++)
        p[i] = i;
    for (int d = 0; d < gpus; d++) {
        cudaSetDevice(d);
        add<<<(n + 127) / 128, 128>>>(p, n, 1 << d);
        expect("sync", cudaDeviceSynchronize(), cudaSuccess);
        sum += 1 << d;
    }
    for (int i = 0; i < n; i++)
        if (p[i] != i + sum) {
            expect("value", p[i], i + sum);
            break;
        }
    expect("memset", cudaMemset(p, 0, n * sizeof *p), cudaSuccess);
    expect("sync", cudaDeviceSynchronize(), cudaSuccess);
    expect("zero", p[n - 1], 0);
    expect("free", cudaFree(p), cudaSuccess);
    expect("free again", cudaFree(p), cudaErrorInvalidValue);
}

static void codes(int gpus)
{
    int *p, *d;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0},
                    none = {cudaMemLocationTypeDevice, gpus};
    cudaPointerAttributes a;
    expect("0 bytes", cudaMallocManaged(&p, 0), cudaSuccess); /* recorded: and null */
    expect("flags", cudaMallocManaged(&p, 4, 9), cudaErrorInvalidValue);
    expect("malloc", cudaMallocManaged(&p, 4096), cudaSuccess);
    cudaMalloc(&d, 4096);
    expect("attributes", cudaPointerGetAttributes(&a, p), cudaSuccess);
    expect("type", a.type, cudaMemoryTypeManaged);
    expect("both", a.devicePointer == p && a.hostPointer == p, 1);
    expect("prefetch", cudaMemPrefetchAsync(p, 4096, here, 0, 0), cudaSuccess);
    expect("prefetch to host", cudaMemPrefetchAsync(p, 4096, host, 0, 0), cudaSuccess);
    expect("prefetch, no GPU", cudaMemPrefetchAsync(p, 4096, none, 0, 0), cudaErrorInvalidDevice);
    expect("prefetch, too long", cudaMemPrefetchAsync(p, 4097, here, 0, 0), cudaErrorInvalidValue);
    expect("prefetch, cudaMalloc", cudaMemPrefetchAsync(d, 64, here, 0, 0), cudaErrorInvalidValue);
    expect("advise", cudaMemAdvise(p, 4096, cudaMemAdviseSetAccessedBy, here), cudaSuccess);
    expect("no advice", cudaMemAdvise(p, 4096, (cudaMemoryAdvise)99, here), cudaErrorInvalidValue);
    expect("copy", cudaMemcpy(d, p, 4096, cudaMemcpyHostToDevice), cudaSuccess);
    expect("copy", cudaMemcpy(p, d, 4096, cudaMemcpyDefault), cudaSuccess);
    expect("wrong free", cudaFreeHost(p), cudaErrorInvalidValue);
    expect("free", cudaFree(p), cudaSuccess);
    expect("free", cudaFree(d), cudaSuccess);
}

/* Nothing waits for the kernel: the host sees what was there. */
static void stale_without_a_wait()
{
    int *p;
    cudaMallocManaged(&p, sizeof *p);
    *p = 1;
    add<<<1, 1>>>(p, 1, 1);
    expect("before the wait", *(volatile int *)p, 1);
    cudaDeviceSynchronize();
    expect("after the wait", *(volatile int *)p, 2);
    cudaFree(p);
}

int main()
{
    int gpus;
    cudaGetDeviceCount(&gpus);
    every_gpu_in_turn(gpus);
    codes(gpus);
    stale_without_a_wait();
    std::printf("managed on %d GPUs: %s\n", gpus, wrong ? "wrong" : "right");
    return wrong != 0;
}

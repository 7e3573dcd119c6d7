/* SPDX-License-Identifier: MIT
 * broken.cu: prints what a program sees of VGPU_FAULT's words: allocations, events, a copy and a
 * store to another GPU, times, and operations on GPU 2.
 */
#include <cstdio>

__global__ void store(int *p, int value)
{
    *p = value;
}

__global__ void store_all(int *p)
{
    p[threadIdx.x] = 1;
}

static int value_of(const int *p)
{
    int value = -1;
    cudaMemcpy(&value, p, sizeof value, cudaMemcpyDefault);
    return value;
}

static int *allocations()
{
    int *p = nullptr, *pinned = nullptr;
    for (int i = 1; i <= 4; i++) {
        cudaError_t error = i == 4 ? cudaMallocHost(&pinned, 4096) : cudaMalloc(&p, 64 << 20);
        printf("allocation %d: %s\n", i, cudaGetErrorName(error));
    }
    cudaGetLastError();
    return p;
}

static void events()
{
    cudaEvent_t event;
    for (int i = 1; i <= 2; i++)
        printf("event %d: %s\n", i, cudaGetErrorName(cudaEventCreate(&event)));
    cudaGetLastError();
}

/* The first call of each kind. */
static void calls(int *mine)
{
    cudaEvent_t event;
    int value = 0;
    cudaEventCreate(&event);
    store<<<1, 1>>>(mine, 1);
    printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("copy: %s\n",
           cudaGetErrorName(cudaMemcpyAsync(&value, mine, sizeof value, cudaMemcpyDefault)));
    printf("record: %s\n", cudaGetErrorName(cudaEventRecord(event)));
    printf("wait: %s\n", cudaGetErrorName(cudaStreamWaitEvent(0, event, 0)));
    printf("sync: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaGetLastError();
}

/* Of 128 words, which are 512 bytes of GPU 1's. */
static int words_that_arrive(int *theirs)
{
    int count = 0, word[128];
    store_all<<<1, 128>>>(theirs);
    cudaDeviceSynchronize();
    cudaSetDevice(1);
    cudaMemcpy(word, theirs, sizeof word, cudaMemcpyDeviceToHost);
    cudaSetDevice(0);
    for (int w : word)
        count = (int)((unsigned)count + (unsigned)w);
    return count;
}

/* What GPU 0 takes for a kernel that does next to nothing. */
static float kernel_us(int *mine, cudaEvent_t begin, cudaEvent_t end)
{
    float ms = 0;
    cudaEventRecord(begin);
    store<<<1, 1>>>(mine, 9);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    return ms * 1e3f;
}

/* From GPU 0 to GPU 1 and back. */
static void pair(int *mine)
{
    int *theirs;
    cudaEvent_t begin, end;
    float ms = 0;
    cudaDeviceEnablePeerAccess(1, 0);
    cudaSetDevice(1);
    cudaMalloc(&theirs, 64 << 20);
    cudaMemset(theirs, 0, 64 << 20);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    store<<<1, 1>>>(theirs, 7);
    cudaDeviceSynchronize();
    printf("stored: %d\n", value_of(theirs));
    store<<<1, 1>>>(mine, 8);
    cudaMemcpyPeer(theirs, 1, mine, 0, sizeof *mine);
    cudaDeviceSynchronize();
    printf("copied: %d\n", value_of(theirs));
    printf("words: %d\n", words_that_arrive(theirs + 128));
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    cudaMemcpyPeerAsync(theirs, 1, mine, 0, 64 << 20, 0);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    printf("us: %.1f\n", ms * 1e3);
    printf("kernel us: %.1f\n", kernel_us(mine, begin, end));
}

/* Memory that was allocated before, and what was in it; beside it lies some that stays. */
static void reuse()
{
    int *p = nullptr, *stays = nullptr;
    cudaMalloc(&stays, sizeof *stays);
    for (int i = 0; i < 2; i++) {
        cudaMalloc(&p, sizeof *p);
        if (i == 0)
            store<<<1, 1>>>(p, 5);
        printf("reused %d: %d\n", i, value_of(p));
        cudaFree(p);
    }
}

int main()
{
    events();
    int *mine = allocations();
    calls(mine);
    pair(mine);
    reuse();
    int *p;
    cudaSetDevice(2);
    cudaMalloc(&p, sizeof *p);
    for (int i = 1; i <= 4; i++) {
        store<<<1, 1>>>(p, i);
        printf("GPU 2, %d: %s\n", i, cudaGetErrorName(cudaDeviceSynchronize()));
    }
    return 0;
}

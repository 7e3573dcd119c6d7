// SPDX-License-Identifier: MIT
// ipc_close.cu: does cudaIpcCloseMemHandle wait for copies that use the memory? ipc_close GPU: the
// process that opens the memory works there; the memory is GPU 0's.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shm {
    volatile int stage;
    cudaIpcMemHandle_t h;
};

static double now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void opener(shm *s, int dev)
{
    while (s->stage < 1)
        usleep(1000);
    cudaSetDevice(dev);
    void *q, *p;
    cudaStream_t st;
    cudaStreamCreateWithFlags(&st, cudaStreamNonBlocking);
    printf("open %d\n", cudaIpcOpenMemHandle(&q, s->h, 1));
    cudaMalloc(&p, 1 << 30);
    cudaMemcpyAsync(p, q, 1 << 30, cudaMemcpyDefault, st);
    cudaStreamSynchronize(st);
    for (int i = 0; i < 200; i++)
        cudaMemcpyAsync(p, q, 1 << 30, cudaMemcpyDefault, st);
    printf("before: query %d\n", cudaStreamQuery(st));
    double t = now();
    int rc = cudaIpcCloseMemHandle(q);
    double u = now();
    int k = cudaStreamQuery(st);
    printf("close %d in %.2f ms, query after it %d\n", rc, u - t, k);
    printf("sync %d after %.2f ms more\n", cudaStreamSynchronize(st), now() - u);
    printf("open again: other memory? close of the old address %d\n", cudaIpcCloseMemHandle(q));
    fflush(stdout);
    s->stage = 2;
    _exit(0);
}

int main(int c, char **v)
{
    int dev = c > 1 ? v[1][0] - '0' : 0;
    shm *s = (shm *)mmap(0, 4096, 3, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fork() == 0)
        opener(s, dev);
    cudaSetDevice(0);
    void *a;
    cudaMalloc(&a, 1 << 30);
    cudaIpcGetMemHandle(&s->h, a);
    s->stage = 1;
    wait(0);
    return 0;
}

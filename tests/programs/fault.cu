/* SPDX-License-Identifier: MIT
 * fault.cu: one bad access each, by name; prints the code that the next wait answers and the one on
 * a GPU without a context. The codes are recorded ones (semantics.txt).
 */
#include "check.h"

#include <string.h>

__global__ void load(const int *p, int *out)
{
    *out = *p;
}

__global__ void store(int *p, int value)
{
    *p = value;
}

__global__ void divide(int *p, int by)
{
    *p = 100 / by;
}

/* Long enough to be run on all processors; the last block of each half goes too far by one. */
__global__ void sweep(int *p, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++)
        if (i <= n)
            p[i] += r;
}

__global__ void endless(int *p)
{
    for (unsigned i = 1; i; i |= 1)
        p[i & 7] += i;
}

/* Half of the threads never come to the barrier, and wait for the other half. */
__global__ void diverge(int *p)
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        while (*(volatile int *)p == 0)
            ;
    *p = 1;
}

__global__ void wait_for(volatile int *p)
{
    while (*p == 0)
        ;
}

static int *fresh(int device, size_t bytes)
{
    int *p;
    MUST(cudaSetDevice(device));
    MUST(cudaMalloc((void **)&p, bytes));
    MUST(cudaMemset(p, 0, bytes));
    return p;
}

static void commit(const char *what)
{
    int *mine = fresh(0, 4096), on_stack = 5;
    if (!strcmp(what, "peer-load")) {
        int *theirs = fresh(1, 4096);
        MUST(cudaSetDevice(0));
        load<<<1, 1>>>(theirs, mine);
    } else if (!strcmp(what, "peer-store")) {
        int *theirs = fresh(1, 4096);
        MUST(cudaSetDevice(0));
        store<<<1, 1>>>(theirs, 1);
    } else if (!strcmp(what, "host")) {
        load<<<1, 1>>>(&on_stack, mine);
    } else if (!strcmp(what, "null")) {
        store<<<1, 1>>>(NULL, 1);
    } else if (!strcmp(what, "freed")) {
        int *gone = fresh(0, 64 << 20);
        MUST(cudaFree(gone));
        store<<<1, 1>>>(gone, 1);
    } else if (!strcmp(what, "misaligned")) {
        store<<<1, 1>>>((int *)((char *)mine + 1), 1);
    } else if (!strcmp(what, "never")) {
        store<<<1, 1>>>(mine + (1 << 28), 1);
    } else if (!strcmp(what, "pool")) {
        int *theirs;
        MUST(cudaSetDevice(1));
        MUST(cudaMallocAsync(&theirs, 1000, 0));
        MUST(cudaStreamSynchronize(0));
        MUST(cudaSetDevice(0));
        MUST(cudaDeviceEnablePeerAccess(1, 0));
        store<<<1, 1>>>(theirs + 2, 1);
    } else if (!strcmp(what, "divergent")) {
        diverge<<<1, 64>>>(mine);
    } else if (!strcmp(what, "configuration")) {
        store<<<1, 2000>>>(mine, 1);
    } else if (!strcmp(what, "on-host")) {
        mine[3] = 1;
    } else if (!strcmp(what, "on-host-freed")) {
        MUST(cudaFree(mine));
        mine[0] = 1;
    } else if (!strcmp(what, "waits")) {
        wait_for<<<1, 1>>>(mine + 5);
    } else if (!strcmp(what, "near")) {
        store<<<1, 1>>>(mine + 4096 / 4, 1); /* past the end, unnoticed as on hardware */
    } else if (!strcmp(what, "across")) {
        load<<<1, 1>>>(fresh(0, 1002) + 1000 / 4, mine);
    } else if (!strcmp(what, "near-twice")) {
        store<<<1, 1>>>(mine + 4096 / 4, 1);
        store<<<1, 1>>>(mine + 4096 / 4 + 5, 1); /* the same place in the code: said once */
    } else if (!strcmp(what, "large")) {
        load<<<1, 1>>>(fresh(0, (8 << 20) + 12) + (2 << 20) + 3 + 10, mine);
    } else if (!strcmp(what, "freed-small")) {
        int *gone = fresh(0, 100);
        MUST(cudaFree(gone));
        load<<<1, 1>>>(gone + 3, mine);
    } else if (!strcmp(what, "endless")) {
        endless<<<1, 32>>>(mine);
    } else if (!strcmp(what, "sweep")) {
        sweep<<<3000, 256>>>(fresh(0, 2999 * 256 * sizeof(int)), 2999 * 256, 4);
    } else if (!strcmp(what, "async")) {
        char *ordered;
        MUST(cudaMallocAsync(&ordered, 1000, 0));
        store<<<1, 1>>>((int *)(ordered + 1000), 1);
    } else if (!strcmp(what, "wrapping")) {
        MUST(cudaMemset(mine, 1, (size_t)-4096)); /* a length that is negative */
    } else if (!strcmp(what, "zero")) {
        divide<<<1, 1>>>(mine, 0); /* an integer division by zero does not trap on a GPU */
    } else {
        fprintf(stderr, "fault: no case '%s'\n", what);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    commit(argv[1]);
    cudaError_t launch = cudaGetLastError(), sync = cudaDeviceSynchronize();
    cudaError_t last = cudaGetLastError(), again = cudaGetLastError(), reset;
    void *p;
    cudaError_t later = cudaMalloc(&p, 64);
    cudaError_t other = cudaSetDevice(2);
    cudaSetDevice(0);
    reset = cudaDeviceReset();
    printf("launch %d sync %d last %d again %d later %d other %d reset %d after %d\n", (int)launch,
           (int)sync, (int)last, (int)again, (int)later, (int)other, (int)reset,
           (int)cudaMalloc(&p, 64));
    return 0;
}

// SPDX-License-Identifier: MIT
// frees.cu: what freeing answers for what was not allocated, was freed already, or is freed twice
// at the same time; each part in a process of its own, so that an error of one leaves the next
// alone.
//     nvcc -o frees frees.cu -lcuda && ./frees
#include <cuda.h>
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__device__ int var[1024];
__device__ char big[4 << 20];
__constant__ int con[64];
#ifndef NO_MANAGED // where a program with such a variable may not fork before its first call
__managed__ int man[64];
#endif

static void tell(const char *what, int rc)
{
    printf("  %-44s %d, last %d\n", what, rc, (int)cudaGetLastError());
    fflush(stdout);
}

static void about(const char *name, void *p)
{
    struct cudaPointerAttributes at;
    memset(&at, 0, sizeof at);
    int rc = cudaPointerGetAttributes(&at, p);
    CUdeviceptr base = 0;
    size_t size = 0;
    int range = cuMemGetAddressRange(&base, &size, (CUdeviceptr)p);
    printf("  %s: attributes %d, type %d, device %d, device pointer is it: %d, host pointer is it: "
           "%d\n",
           name, rc, at.type, at.device, at.devicePointer == p, at.hostPointer == p);
    printf("  %s: range %d, begins %ld bytes before, %zu bytes\n", name, range,
           range ? 0L : (long)((CUdeviceptr)p - base), size);
    fflush(stdout);
}

static void variable(const char *name, void *p)
{
    cudaIpcMemHandle_t h;
    about(name, p);
    tell("cudaIpcGetMemHandle", cudaIpcGetMemHandle(&h, p));
    tell("cudaFree", cudaFree(p));
    tell("cudaFreeAsync", cudaFreeAsync(p, 0));
    tell("cudaFreeHost", cudaFreeHost(p));
    tell("cuMemFree", cuMemFree((CUdeviceptr)p));
    tell("cudaMemset of it after that", cudaMemset(p, 0, 64));
    tell("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

static void part_var(void)
{
    void *p;
    cudaGetSymbolAddress(&p, var);
    variable("__device__ int[1024]", p);
}
static void part_var_in(void)
{
    void *p;
    cudaGetSymbolAddress(&p, var);
    variable("inside of it", (char *)p + 512);
}
static void part_big(void)
{
    void *p;
    cudaGetSymbolAddress(&p, big);
    variable("__device__ char[4 MiB]", p);
}
static void part_con(void)
{
    void *p;
    cudaGetSymbolAddress(&p, con);
    variable("__constant__ int[64]", p);
}
#ifndef NO_MANAGED
static void part_man(void)
{
    void *p;
    cudaGetSymbolAddress(&p, man);
    variable("__managed__ int[64]", p);
}
#endif

static void part_ipc_var(void)
{
    int to[2], ok = 0;
    pipe(to);
    cudaIpcMemHandle_t h;
    pid_t child = fork();
    if (child == 0) {
        close(to[1]);
        if (read(to[0], &h, sizeof h) == (ssize_t)sizeof h) {
            void *q = 0;
            int rc = cudaIpcOpenMemHandle(&q, h, cudaIpcMemLazyEnablePeerAccess);
            tell("another process opens the handle of a variable", rc);
            int v = 0;
            if (!rc) {
                tell("copy from it", cudaMemcpy(&v, q, sizeof v, cudaMemcpyDefault));
                printf("  value %d\n", v);
            }
        }
        fflush(stdout);
        _exit(0);
    }
    void *p;
    int seven = 7;
    cudaMemcpyToSymbol(var, &seven, sizeof seven);
    cudaGetSymbolAddress(&p, var);
    ok = cudaIpcGetMemHandle(&h, p);
    tell("handle", ok);
    if (!ok)
        write(to[1], &h, sizeof h);
    close(to[1]);
    waitpid(child, 0, 0);
}

static void part_inside(void)
{
    char *a, *b, *h;
    cudaMalloc((void **)&a, 4096);
    cudaMalloc((void **)&b, 8 << 20);
    cudaMallocHost((void **)&h, 4096);
    tell("cudaFree(a + 512)", cudaFree(a + 512));
    tell("cudaFree(a + 4)", cudaFree(a + 4));
    tell("cudaFree(b + 2 MiB)", cudaFree(b + (2 << 20)));
    tell("cudaFreeAsync(a + 512)", cudaFreeAsync(a + 512, 0));
    tell("cudaFreeHost(h + 64)", cudaFreeHost(h + 64));
    tell("cudaFree(pinned)", cudaFree(h));
    tell("cudaFreeHost(device)", cudaFreeHost(a));
    tell("cudaFree(a)", cudaFree(a));
    tell("cudaFree(a) again", cudaFree(a));
    tell("cudaFreeAsync(a) again", cudaFreeAsync(a, 0));
    tell("cudaFreeHost(h)", cudaFreeHost(h));
    tell("cudaFreeHost(h) again", cudaFreeHost(h));
    int local;
    tell("cudaFree(stack)", cudaFree(&local));
    tell("cudaFreeHost(stack)", cudaFreeHost(&local));
    tell("cudaFree(1)", cudaFree((void *)1));
    tell("cudaHostUnregister(stack)", cudaHostUnregister(&local));
    void *m;
    cudaMallocManaged(&m, 4096);
    tell("cudaFreeHost(managed)", cudaFreeHost(m));
    tell("cudaFree(managed + 64)", cudaFree((char *)m + 64));
    tell("cudaFree(managed)", cudaFree(m));
    void *s;
    cudaMallocAsync(&s, 4096, 0);
    tell("cudaFreeAsync(pool + 64)", cudaFreeAsync((char *)s + 64, 0));
    tell("cudaFree(pool)", cudaFree(s));
    tell("cudaFree(pool) again", cudaFree(s));
    tell("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

/* ---- twice at the same time ---- */

enum what { FREE, FREE_HOST, FREE_ASYNC, STREAM, EVENT, UNREGISTER, WHATS };
static const char *const names[] = {"cudaFree",          "cudaFreeHost",     "cudaFreeAsync",
                                    "cudaStreamDestroy", "cudaEventDestroy", "cudaHostUnregister"};
static pthread_barrier_t line;
static void *volatile object;
static enum what what;
static int answers[2];

static int end(void *p)
{
    switch (what) {
    case FREE:
        return cudaFree(p);
    case FREE_HOST:
        return cudaFreeHost(p);
    case FREE_ASYNC:
        return cudaFreeAsync(p, 0);
    case STREAM:
        return cudaStreamDestroy((cudaStream_t)p);
    case EVENT:
        return cudaEventDestroy((cudaEvent_t)p);
    default:
        return cudaHostUnregister(p);
    }
}

enum { ROUNDS = 200 };

static void *second(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&line);
        answers[1] = end(object);
        pthread_barrier_wait(&line);
    }
    return unused;
}

static void twice(void)
{
    static char own[1 << 16] __attribute__((aligned(4096)));
    int seen[16][3], kinds = 0;
    pthread_t t;
    char *d, *h;
    cudaMalloc((void **)&d, 64 << 20);
    cudaMallocHost((void **)&h, 64 << 20);
    pthread_barrier_init(&line, 0, 2);
    pthread_create(&t, 0, second, 0);
    for (int i = 0; i < ROUNDS; i++) {
        void *p = 0;
        if (what == FREE)
            cudaMalloc(&p, 1 << 20);
        if (what == FREE_HOST)
            cudaMallocHost(&p, 64 << 20);
        if (what == FREE_ASYNC)
            cudaMallocAsync(&p, 1 << 20, 0), cudaDeviceSynchronize();
        if (what == STREAM)
            cudaStreamCreate((cudaStream_t *)&p);
        if (what == EVENT)
            cudaEventCreate((cudaEvent_t *)&p);
        if (what == UNREGISTER)
            cudaHostRegister(p = own, sizeof own, 0);
        if (what == FREE_HOST)
            cudaMemcpyAsync(d, p, 64 << 20, cudaMemcpyDefault, 0);
        object = p;
        pthread_barrier_wait(&line);
        answers[0] = end(object);
        pthread_barrier_wait(&line);
        int lo = answers[0] < answers[1] ? answers[0] : answers[1],
            hi = answers[0] ^ answers[1] ^ lo, k = 0;
        while (k < kinds && (seen[k][0] != lo || seen[k][1] != hi))
            k++;
        if (k == kinds && kinds < 16)
            seen[kinds][0] = lo, seen[kinds][1] = hi, seen[kinds++][2] = 0;
        seen[k][2]++;
    }
    for (int k = 0; k < kinds; k++)
        printf("  %s by two threads: %d and %d: %d of %d\n", names[what], seen[k][0], seen[k][1],
               seen[k][2], ROUNDS);
    tell("cudaDeviceSynchronize after it", cudaDeviceSynchronize());
}

/* ---- a failed device ---- */

__global__ void trap(void)
{
    asm("trap;");
}

static void part_failed(void)
{
    int d = -1;
    trap<<<1, 1>>>();
    tell("cudaDeviceSynchronize after trap", cudaDeviceSynchronize());
    tell("cudaSetDevice(0)", cudaSetDevice(0));
    tell("cudaGetDevice", cudaGetDevice(&d));
    tell("cudaSetDevice(1), of one", cudaSetDevice(1));
    tell("cudaGetDevice", cudaGetDevice(&d));
    printf("  device %d\n", d);
    tell("cudaDeviceReset", cudaDeviceReset());
    tell("cudaSetDevice(0)", cudaSetDevice(0));
    tell("cudaFree(0)", cudaFree(0));
}

static void part(const char *name, void (*run)(void))
{
    printf("[%s]\n", name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        cudaFree(0); /* part_ipc_var forks first, and so does not get here with a context */
        run();
        fflush(stdout);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status)
        printf("  (killed by signal %d)\n", WTERMSIG(status));
    fflush(stdout);
}

static void part_fork(const char *name, void (*run)(void))
{
    printf("[%s]\n", name);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        run();
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, 0, 0);
}

int main(void)
{
    part("a_variable", part_var);
    part("inside_a_variable", part_var_in);
    part("a_large_variable", part_big);
    part("a_constant", part_con);
#ifndef NO_MANAGED
    part("a_managed_variable", part_man);
#endif
    part_fork("handle_of_a_variable", part_ipc_var);
    part("inside_again_other_kind", part_inside);
    for (int w = 0; w < WHATS; w++) {
        what = (enum what)w;
        part(names[w], twice);
    }
    part("a_failed_device", part_failed);
    return 0;
}

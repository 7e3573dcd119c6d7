// SPDX-License-Identifier: MIT
// ipc_rules.cu: rules of IPC beyond the recorded cases. The importer is another program altogether:
// this one again by exec, with the handles as text. Each changed byte of a handle is refused; what
// is freed while it is open keeps its contents, small memory, large memory and where the GPU is
// full; who does not wait for the event reads what was there before, or, with a seed, maybe not;
// the driver's names do the same.
#include "check.h"

#include <cuda.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int wrong;

static void expect(const char *what, long is, long should)
{
    if (is != should) {
        printf("%s: %ld, expected %ld\n", what, is, should);
        wrong++;
    }
    cudaGetLastError();
}

static const size_t LARGE = 5 << 20;
enum { SMALL, BIG, BEFORE, TIMED, COUNT };

struct message {
    cudaIpcMemHandle_t memory[COUNT];
    cudaIpcEventHandle_t event;
};

__global__ void store(int *p, int v)
{
    *p = v;
}

__global__ void fill(int *p, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = i;
}

static void as_text(const void *from, size_t bytes, char *to)
{
    for (size_t i = 0; i < bytes; i++)
        sprintf(to + 2 * i, "%02x", ((const unsigned char *)from)[i]);
}

static void from_text(const char *from, void *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned int byte = 0;
        sscanf(from + 2 * i, "%2x", &byte);
        ((unsigned char *)to)[i] = (unsigned char)byte;
    }
}

static int peek(const int *p)
{
    int value = -1;
    MUST(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDefault));
    return value;
}

/* ---- the importer ---- */

static void next(void)
{
    char byte = 0;
    HOLDS(write(1, &byte, 1) == 1 && read(0, &byte, 1) == 1, "the exporter has gone");
}

static void refused(const cudaIpcMemHandle_t *handle)
{
    for (size_t i = 0; i < sizeof handle->reserved; i++) {
        cudaIpcMemHandle_t forged = *handle;
        void *p;
        forged.reserved[i] ^= 0x10;
        HOLDS(cudaIpcOpenMemHandle(&p, forged, cudaIpcMemLazyEnablePeerAccess) ==
                  cudaErrorInvalidValue,
              "byte %zu was changed", i);
    }
    cudaGetLastError();
}

static void by_driver(const cudaIpcMemHandle_t *handle, const int *opened)
{
    CUipcMemHandle same;
    CUdeviceptr ptr = 0;
    memcpy(&same, handle, sizeof same);
    HOLDS(cuIpcOpenMemHandle(&ptr, same, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) == CUDA_SUCCESS,
          "cuIpcOpenMemHandle");
    HOLDS(ptr == (CUdeviceptr)(uintptr_t)opened, "another address the second time");
    HOLDS(cuIpcCloseMemHandle(ptr) == CUDA_SUCCESS, "cuIpcCloseMemHandle");
}

static float fill_ms(int *p)
{
    cudaEvent_t begin, end;
    float ms;
    MUST(cudaEventCreate(&begin));
    MUST(cudaEventCreate(&end));
    MUST(cudaEventRecord(begin, 0));
    fill<<<16, 256>>>(p, (int)(LARGE / sizeof *p));
    MUST(cudaEventRecord(end, 0));
    MUST(cudaEventSynchronize(end));
    MUST(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

/* Stores of a kernel go over the link when the memory is another GPU's. */
static void over_the_link(int *opened, int gpu)
{
    int *own;
    MUST(cudaMalloc((void **)&own, LARGE));
    fill_ms(own); // the first launch loads the kernel
    float here = fill_ms(own), there = fill_ms(opened);
    HOLDS(gpu == 0 ? there < 1.1f * here : there > 1.5f * here, "GPU %d: %g ms, own memory %g ms",
          gpu, there, here);
    MUST(cudaFree(own));
}

/* Closing waits for what uses the memory (recorded: ../recorded/probes/ipc_close.cu). */
static void closing_waits(int *opened)
{
    cudaStream_t stream;
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 20; i++)
        fill<<<16, 256, 0, stream>>>(opened, (int)(LARGE / sizeof *opened));
    HOLDS(cudaStreamQuery(stream) == cudaErrorNotReady, "the kernels are over already");
    MUST(cudaIpcCloseMemHandle(opened));
    HOLDS(cudaStreamQuery(stream) == cudaSuccess, "closed while kernels write");
    MUST(cudaStreamDestroy(stream));
}

static int import(const char *text, int gpu)
{
    struct message m;
    int *p[COUNT], gpus;
    cudaEvent_t event;
    from_text(text, &m, sizeof m);
    MUST(cudaGetDeviceCount(&gpus));
    refused(&m.memory[SMALL]);
    for (int i = 0; i < COUNT; i++)
        MUST(cudaIpcOpenMemHandle((void **)&p[i], m.memory[i], cudaIpcMemLazyEnablePeerAccess));
    MUST(cudaIpcOpenEventHandle(&event, m.event));
    by_driver(&m.memory[BIG], p[BIG]);
    over_the_link(p[TIMED], gpu);
    next();                      // the exporter launches and records
    int early = peek(p[BEFORE]); // the worst order is the one without a seed
    HOLDS(early == 1 || (getenv("VGPU_SCHEDULE") && early == 2),
          "nothing orders the read after the kernel: %d", early);
    MUST(cudaStreamWaitEvent(0, event, 0));
    HOLDS(peek(p[BEFORE]) == 2, "the event does: %d", peek(p[BEFORE]));
    next(); // it frees, and allocates anew
    HOLDS(peek(p[SMALL]) == 10 && peek(p[BIG]) == 20, "%d %d", peek(p[SMALL]), peek(p[BIG]));
    store<<<1, 1>>>(p[SMALL], 11);
    store<<<1, 1>>>(p[BIG], 21);
    MUST(cudaDeviceSynchronize());
    next(); // it fills the GPU, and frees what is open
    HOLDS(peek(p[BEFORE]) == 2, "freed on a full GPU: %d", peek(p[BEFORE]));
    closing_waits(p[TIMED]);
    for (int i = 0; i < COUNT; i++)
        if (i != TIMED)
            MUST(cudaIpcCloseMemHandle(p[i]));
    MUST(cudaEventDestroy(event));
    next();
    return 0;
}

/* ---- the exporter ---- */

static pid_t start(const char *self, const struct message *m, int gpu, int *to, int *from)
{
    int down[2], up[2];
    char text[2 * sizeof *m + 1], number[16];
    snprintf(number, sizeof number, "%d", gpu);
    as_text(m, sizeof *m, text);
    HOLDS(pipe(down) == 0 && pipe(up) == 0, "pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(down[0], 0);
        dup2(up[1], 1);
        for (int i = 0; i < 2; i++) {
            close(down[i]);
            close(up[i]);
        }
        execl(self, self, text, number, (char *)NULL);
        _exit(127);
    }
    close(down[0]);
    close(up[1]);
    *to = down[1];
    *from = up[0];
    return child;
}

static void await(int from)
{
    char byte;
    HOLDS(read(from, &byte, 1) == 1, "the importer has gone");
}

static void let_on(int to)
{
    char byte = 0;
    HOLDS(write(to, &byte, 1) == 1, "the importer has gone");
}

/* Freed while open: the same address again, other memory behind it. */
static void free_and_again(int *p[COUNT])
{
    const size_t bytes[] = {4096, LARGE};
    for (int i = SMALL; i <= BIG; i++) {
        int *before = p[i];
        MUST(cudaFree(p[i]));
        MUST(cudaMalloc((void **)&p[i], bytes[i]));
        expect("the same address", p[i] == before, 1);
        MUST(cudaMemset(p[i], 0, bytes[i]));
    }
    MUST(cudaDeviceSynchronize());
}

static void fill_gpu(void)
{
    size_t available, total;
    void *rest;
    MUST(cudaMemGetInfo(&available, &total));
    while (available >= (2u << 20)) {
        MUST(cudaMalloc(&rest, available / (2 << 20) * (2 << 20)));
        MUST(cudaMemGetInfo(&available, &total));
    }
}

static void export_all(const char *self, int gpu)
{
    struct message m;
    int *p[COUNT], to, from, status;
    cudaEvent_t event;
    MUST(cudaSetDevice(gpu));
    MUST(cudaMalloc((void **)&p[SMALL], 4096));
    MUST(cudaMalloc((void **)&p[BIG], LARGE));
    MUST(cudaMalloc((void **)&p[BEFORE], LARGE));
    MUST(cudaMalloc((void **)&p[TIMED], LARGE));
    store<<<1, 1>>>(p[SMALL], 10);
    store<<<1, 1>>>(p[BIG], 20);
    store<<<1, 1>>>(p[BEFORE], 1);
    MUST(cudaDeviceSynchronize());
    MUST(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    for (int i = 0; i < COUNT; i++)
        MUST(cudaIpcGetMemHandle(&m.memory[i], p[i]));
    MUST(cudaIpcGetEventHandle(&m.event, event));
    pid_t child = start(self, &m, gpu, &to, &from);
    await(from);
    store<<<1, 1>>>(p[BEFORE], 2);
    MUST(cudaEventRecord(event, 0));
    let_on(to);
    await(from);
    free_and_again(p);
    let_on(to);
    await(from);
    expect("small", peek(p[SMALL]), 0);
    expect("large", peek(p[BIG]), 0);
    fill_gpu();
    MUST(cudaFree(p[BEFORE]));
    let_on(to);
    await(from);
    let_on(to);
    waitpid(child, &status, 0);
    expect("importer", status, 0);
    MUST(cudaDeviceReset());
    close(to);
    close(from);
}

int main(int argc, char **argv)
{
    int gpus;
    if (argc > 2)
        return import(argv[1], atoi(argv[2]));
    MUST(cudaGetDeviceCount(&gpus));
    for (int gpu = 0; gpu < gpus; gpu++) {
        int can = 1;
        if (gpu > 0)
            MUST(cudaDeviceCanAccessPeer(&can, 0, gpu)); // the importer's GPU is 0
        if (can)
            export_all(argv[0], gpu);
    }
    printf("ipc_rules on %d GPUs: %s\n", gpus, wrong ? "wrong" : "right");
    return wrong != 0;
}

/* SPDX-License-Identifier: MIT
 * everything.c: host threads that use all of the runtime at once, some with objects of their own,
 * all with one set that they share; ThreadSanitizer looks at what the runtime itself does. Codes do
 * not matter, but for a few.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "everything.h"

static struct {
    char *device, *pinned;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraphExec_t graph;
    char pages[1 << 16] __attribute__((aligned(4096)));
    atomic_int calls;
} shared;

static void count(void *unused)
{
    (void)unused;
    atomic_fetch_add(&shared.calls, 1);
}

static void CUDART_CB called(cudaStream_t stream, cudaError_t error, void *unused)
{
    (void)stream, (void)error;
    count(unused);
}

static void use_unordered(void)
{
#ifdef PROOF
    /* That the test can fail: a race of this program's own. One store a thread may be ordered by
     * the runtime's locks before and after it; among many, two are under way at a time. */
    static volatile int stores;
    for (int i = 0; i < 100000; i++)
        stores++;
#endif
}

static void ask(int number)
{
    struct cudaDeviceProp properties;
    struct cudaPointerAttributes attributes;
    size_t room, all;
    int value, version;
    unsigned int flags;
    char bus[32];
    cudaGetDeviceProperties(&properties, number % 4);
    cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, number % 4);
    cudaDeviceCanAccessPeer(&value, number % 4, (number + 1) % 4);
    cudaDeviceGetPCIBusId(bus, sizeof bus, number % 4);
    cudaPointerGetAttributes(&attributes, shared.pinned);
    cudaHostGetFlags(&flags, shared.pinned);
    cudaMemGetInfo(&room, &all);
    cudaDriverGetVersion(&version);
    cudaDeviceGetLimit(&all, cudaLimitStackSize);
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, (size_t)(1 + number) << 20);
    cudaSetDeviceFlags(cudaDeviceScheduleAuto);
    cudaGetDeviceFlags(&flags);
    cudaFree((void *)1); /* an error that nobody looks at */
    cudaSetDevice(99);
    cudaPeekAtLastError();
    cudaGetLastError();
}

static void use_own(int number)
{
    char *device, *managed, *pageable = malloc(BYTES), *pinned;
    cudaStream_t stream;
    cudaEvent_t event;
    OK(cudaMalloc((void **)&device, BYTES));
    OK(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
    OK(cudaMallocHost((void **)&pinned, BYTES));
    OK(cudaStreamCreateWithFlags(&stream, number % 2));
    OK(cudaEventCreate(&event));
    memset(pageable, number, BYTES);
    OK(cudaMemcpyAsync(device, pageable, BYTES, cudaMemcpyHostToDevice, stream));
    OK(cudaMemsetAsync(device, number, BYTES / 2, stream));
    OK(cudaLaunchHostFunc(stream, count, NULL));
    OK(cudaStreamAddCallback(stream, called, NULL, 0));
    OK(cudaEventRecord(event, stream));
    OK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
    while (cudaEventQuery(event) == cudaErrorNotReady)
        ;
    OK(cudaStreamSynchronize(stream));
    EXPECT_IS(pinned[BYTES - 1], number);
    OK(cudaStreamDestroy(stream));
    OK(cudaEventDestroy(event));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(managed));
    OK(cudaFree(device));
    free(pageable);
}

static void use_pool(void)
{
    void *memory;
    OK(cudaMallocAsync(&memory, BYTES, cudaStreamPerThread));
    OK(cudaMemsetAsync(memory, 1, BYTES, cudaStreamPerThread));
    OK(cudaFreeAsync(memory, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
}

/* The same memory, registered by all: one of them gets it. */
static void register_shared(void)
{
    if (cudaHostRegister(shared.pages + 4096, 8192, 0) == cudaSuccess) {
        cudaMemcpyAsync(shared.device, shared.pages + 4096, 8192, cudaMemcpyHostToDevice, 0);
        OK(cudaHostUnregister(shared.pages + 4096));
    }
    cudaGetLastError();
}

static void use_shared(int number)
{
    OK(cudaMemcpyAsync(shared.device + number * 4096, shared.pinned + number * 4096, 4096,
                       cudaMemcpyHostToDevice, shared.stream));
    OK(cudaEventRecord(shared.event, shared.stream));
    OK(cudaStreamWaitEvent(cudaStreamPerThread, shared.event, 0));
    OK(cudaGraphLaunch(shared.graph, shared.stream));
    cudaStreamQuery(shared.stream);
    cudaEventQuery(shared.event);
    OK(cudaStreamSynchronize(shared.stream));
    cudaDeviceEnablePeerAccess((number + 1) % 4, 0); /* another thread may have done it */
    cudaGetLastError();
}

static void use_graph(void)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    void *device;
    OK(cudaMalloc(&device, BYTES));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaMemsetAsync(device, 0, BYTES, stream));
    OK(cudaLaunchHostFunc(stream, count, NULL));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(device));
}

static void use_driver(int number)
{
    CUcontext context, current;
    CUdeviceptr memory;
    EXPECT_IS(cuInit(0), CUDA_SUCCESS);
    EXPECT_IS(cuDevicePrimaryCtxRetain(&context, number % 4), CUDA_SUCCESS);
    EXPECT_IS(cuCtxPushCurrent(context), CUDA_SUCCESS);
    EXPECT_IS(cuMemAlloc(&memory, BYTES), CUDA_SUCCESS);
    EXPECT_IS(cuMemFree(memory), CUDA_SUCCESS);
    EXPECT_IS(cuCtxPopCurrent(&current), CUDA_SUCCESS);
    EXPECT_IS(cuDevicePrimaryCtxRelease(number % 4), CUDA_SUCCESS);
}

static void *work(void *argument)
{
    int number = (int)(long)argument;
    for (int round = 0; round < ROUNDS; round++) {
        OK(cudaSetDevice(number % 4));
        ask(number);
        use_unordered();
        use_own(number);
        use_pool();
        use_graph();
        use_driver(number);
        use_kernels(number);
        use_kernel_graph(number);
        load_image();
        use_mappings(number);
        use_own_pool(number);
        OK(cudaSetDevice(0));
        use_other_process();
        register_shared();
        use_shared(number);
        act_together(number);
    }
    return NULL;
}

static void make_shared(void)
{
    cudaGraph_t graph;
    OK(cudaMalloc((void **)&shared.device, BYTES));
    OK(cudaMallocHost((void **)&shared.pinned, BYTES));
    OK(cudaStreamCreate(&shared.stream));
    OK(cudaEventCreate(&shared.event));
    OK(cudaStreamBeginCapture(shared.stream, cudaStreamCaptureModeRelaxed));
    OK(cudaLaunchHostFunc(shared.stream, count, NULL));
    OK(cudaStreamEndCapture(shared.stream, &graph));
    OK(cudaGraphInstantiate(&shared.graph, graph, 0));
    OK(cudaGraphDestroy(graph));
}

/* Threads that begin before anything else has been called, and meet in the first call. */
static void *first_call(void *unused)
{
    int count_of;
    OK(cudaGetDeviceCount(&count_of));
    OK(cudaFree(NULL));
    return unused;
}

void run_threads(void *(*function)(void *))
{
    pthread_t thread[THREADS];
    for (long i = 0; i < THREADS; i++)
        EXPECT_IS(pthread_create(&thread[i], NULL, function, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* Does not stop: the program ends while it is in a call. */
static void *go_on(void *unused)
{
    (void)unused;
    for (;;)
        cudaMemset(shared.device, 1, BYTES);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1 && strcmp(argv[1], "other") == 0) {
        be_other_process();
        return 0;
    }
    start_other_process();
    start_together();
    run_threads(first_call);
    make_shared();
    run_threads(work);
    EXPECT_IS(shared.calls, THREADS * ROUNDS * 4);
    end_other_process();
    run_threads(reset_devices);
    OK(cudaSetDevice(0));
    cudaMalloc((void **)&shared.device, BYTES);
    EXPECT_IS(pthread_create(&thread, NULL, go_on, NULL), 0);
    puts("right");
    return 0;
}

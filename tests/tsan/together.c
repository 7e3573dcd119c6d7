/* SPDX-License-Identifier: MIT
 * together.c: all threads meet at a barrier and do the same to one object. One of them may; what
 * the others are told is not looked at.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "expect.h"
#include "everything.h"

static pthread_barrier_t barrier;
static struct {
    void *device, *pinned, *pooled;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr reserved;
} one;

enum {
    FREED,
    FREED_HOST,
    DESTROYED_STREAM,
    DESTROYED_EVENT,
    DESTROYED_EXEC,
    RELEASED,
    MAPPED,
    KINDS
};
static atomic_int succeeded[KINDS];

static bool meet(void)
{
    return pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
}

void start_together(void)
{
    EXPECT_IS(pthread_barrier_init(&barrier, NULL, THREADS), 0);
}

static void count(int kind, int code)
{
    if (code == 0)
        succeeded[kind]++;
    cudaGetLastError();
}

/* As often as it was there to be had. */
static void expect_one_each(void)
{
    for (int i = 0; i < KINDS; i++)
        EXPECT_IS(atomic_exchange(&succeeded[i], 0) + 100 * i, 1 + 100 * i);
}

/* ---- capture: one begins, all add to it, one ends ---- */

static void begin_capture(void)
{
    OK(cudaStreamCreate(&one.stream));
    OK(cudaEventCreate(&one.event));
    OK(cudaMalloc(&one.device, BYTES));
    OK(cudaMallocHost(&one.pinned, BYTES));
    OK(cudaStreamBeginCapture(one.stream, cudaStreamCaptureModeRelaxed));
}

static void ask_capture(void)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    enum cudaStreamCaptureStatus status;
    unsigned long long id;
    OK(cudaStreamIsCapturing(one.stream, &status));
    EXPECT_IS(status, cudaStreamCaptureStatusActive);
    OK(cudaStreamGetCaptureInfo(one.stream, &status, &id, NULL, NULL, NULL, NULL));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
}

/* On the stream itself, and on one of the thread's own that joins. */
static void add_to_capture(int number)
{
    cudaStream_t own;
    cudaEvent_t fork, join;
    OK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));
    OK(cudaEventCreate(&fork));
    OK(cudaEventCreate(&join));
    ask_capture();
    OK(cudaMemsetAsync(one.device, number, 64, one.stream));
    OK(cudaEventRecord(fork, one.stream));
    OK(cudaStreamWaitEvent(own, fork, 0));
    OK(cudaMemsetAsync((char *)one.device + 4096 * (1 + number), number, 64, own));
    OK(cudaEventRecord(join, own));
    OK(cudaStreamWaitEvent(one.stream, join, 0));
    meet();
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(own));
}

static void capture_together(int number)
{
    meet(); /* what others do with the default stream would invalidate it */
    if (number == 0)
        begin_capture();
    meet();
    add_to_capture(number);
    if (meet()) {
        OK(cudaStreamEndCapture(one.stream, &one.graph));
        OK(cudaGraphInstantiate(&one.exec, one.graph, 0));
    }
    meet();
    OK(cudaGraphLaunch(one.exec, one.stream));
    OK(cudaStreamSynchronize(one.stream));
}

/* A capture that forbids the other threads' calls, and that they invalidate. */
static void disturb_capture(int number)
{
    cudaGraph_t graph = NULL;
    void *memory = NULL;
    meet();
    if (number == 0)
        OK(cudaStreamBeginCapture(one.stream, cudaStreamCaptureModeGlobal));
    meet();
    cudaMalloc(&memory, BYTES);
    cudaMemset(one.device, 0, 64);
    meet();
    if (number == 0)
        cudaStreamEndCapture(one.stream, &graph);
    meet();
    if (graph)
        cudaGraphDestroy(graph);
    cudaFree(memory);
    cudaGetLastError();
}

/* ---- the end of objects ---- */

static void map_together(int number)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    size_t bytes = 2 << 20;
    if (number == 0) {
        OK(cuMemCreate(&one.handle, bytes, &prop, 0));
        OK(cuMemAddressReserve(&one.reserved, bytes, 0, 0, 0));
    }
    meet();
    count(MAPPED, (int)cuMemMap(one.reserved, bytes, 0, one.handle, 0));
    meet();
    OK(cuMemUnmap(one.reserved, bytes)); /* as recorded: also where nothing is mapped */
    count(RELEASED, (int)cuMemRelease(one.handle));
    meet();
    if (number == 0)
        OK(cuMemAddressFree(one.reserved, bytes));
}

static void end_together(void)
{
    meet();
    count(FREED, (int)cudaFree(one.device));
    count(FREED_HOST, (int)cudaFreeHost(one.pinned));
    count(DESTROYED_EXEC, (int)cudaGraphExecDestroy(one.exec));
    count(DESTROYED_EVENT, (int)cudaEventDestroy(one.event));
    count(DESTROYED_STREAM, (int)cudaStreamDestroy(one.stream));
    if (meet()) {
        OK(cudaGraphDestroy(one.graph));
        expect_one_each();
    }
}

/* ---- OpenMP, as gcc calls it; gomp.c is the library ---- */

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);

static void work_in_team(void *data)
{
    OK(cudaMemsetAsync(data, 1, 64, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    GOMP_barrier();
    OK(cudaMemsetAsync(data, 2, 64, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
}

static void use_team(void)
{
    void *memory;
    OK(cudaMalloc(&memory, BYTES));
    GOMP_parallel(work_in_team, memory, 3, 0);
    OK(cudaFree(memory));
}

void act_together(int number)
{
    OK(cudaSetDevice(0));
    capture_together(number);
    disturb_capture(number);
    map_together(number);
    end_together();
    use_team();
    meet();
}

/* ---- a device ends while others use it ---- */

static void use_carelessly(int number)
{
    void *memory = NULL, *pinned = NULL;
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    cudaStreamCreate(&stream);
    cudaEventCreate(&event);
    cudaMalloc(&memory, BYTES);
    cudaMallocHost(&pinned, BYTES);
    cudaMemsetAsync(memory, number, BYTES, stream);
    cudaMemcpyAsync(pinned, memory, BYTES, cudaMemcpyDeviceToHost, stream);
    cudaEventRecord(event, stream);
    cudaDeviceEnablePeerAccess((number + 1) % GPUS, 0);
    cudaStreamSynchronize(stream);
    cudaFreeHost(pinned);
    cudaFree(memory);
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    cudaGetLastError();
}

void *reset_devices(void *number)
{
    int me = (int)(long)number;
    for (int round = 0; round < ROUNDS; round++) {
        cudaSetDevice((me + round) % GPUS);
        use_carelessly(me);
        if (me < 2)
            cudaDeviceReset();
    }
    cudaGetLastError();
    return NULL;
}

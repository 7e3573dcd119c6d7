// SPDX-License-Identifier: MIT
// host_function.cu: functions of the program in its streams: in order with copies and kernels of
// every GPU, also when nobody makes a CUDA call while they run.
#include "check.h"
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

enum { N = 1000 };

struct job {
    int *from, *to;
    int factor, calls;
    cudaError_t inside;
    sem_t done;
};

__global__ void add(int *values, int n, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] += what;
}

static void multiply(void *data)
{
    struct job *job = (struct job *)data;
    for (int i = 0; i < N; i++)
        job->to[i] = job->from[i] * job->factor;
    job->calls++;
    job->inside = cudaDeviceSynchronize();
    sem_post(&job->done);
}

static void count(cudaStream_t stream, cudaError_t status, void *data)
{
    (void)stream;
    ((struct job *)data)->calls += status == cudaSuccess;
}

// Device to host, a function, host to device, a kernel: each sees what the one before it did.
static void pipeline(int gpu)
{
    struct job job = {NULL, NULL, 3, 0, cudaSuccess};
    int *device;
    cudaStream_t stream;
    MUST(cudaSetDevice(gpu));
    MUST(cudaMalloc((void **)&device, N * sizeof(int)));
    MUST(cudaMallocHost((void **)&job.from, N * sizeof(int)));
    MUST(cudaMallocHost((void **)&job.to, N * sizeof(int)));
    MUST(cudaStreamCreate(&stream));
    sem_init(&job.done, 0, 0);
    for (int round = 1; round <= 3; round++) {
        MUST(cudaMemsetAsync(device, 0, N * sizeof(int), stream));
        add<<<4, 256, 0, stream>>>(device, N, 7 * round);
        MUST(cudaMemcpyAsync(job.from, device, N * sizeof(int), cudaMemcpyDeviceToHost, stream));
        MUST(cudaLaunchHostFunc(stream, multiply, &job));
        MUST(cudaMemcpyAsync(device, job.to, N * sizeof(int), cudaMemcpyHostToDevice, stream));
        add<<<4, 256, 0, stream>>>(device, N, 1);
        MUST(cudaMemcpyAsync(job.from, device, N * sizeof(int), cudaMemcpyDeviceToHost, stream));
        MUST(cudaStreamAddCallback(stream, count, &job, 0));
        MUST(cudaStreamSynchronize(stream));
        for (int i = 0; i < N; i++)
            HOLDS(job.from[i] == 21 * round + 1, "round %d: [%d] is %d", round, i, job.from[i]);
        HOLDS(job.calls == 2 * round, "%d calls", job.calls);
        HOLDS(job.inside == cudaErrorNotPermitted, "CUDA calls inside answer %d", (int)job.inside);
    }
    MUST(cudaGetLastError());
    MUST(cudaFree(device));
    MUST(cudaFreeHost(job.from));
    MUST(cudaFreeHost(job.to));
    MUST(cudaStreamDestroy(stream));
}

// The program waits for the function alone, without a CUDA call.
static void unwatched(int gpu)
{
    struct job job = {NULL, NULL, 1, 0, cudaSuccess};
    int *device;
    MUST(cudaSetDevice(gpu));
    MUST(cudaMalloc((void **)&device, N * sizeof(int)));
    MUST(cudaMallocHost((void **)&job.from, N * sizeof(int)));
    job.to = job.from;
    sem_init(&job.done, 0, 0);
    for (int round = 1; round <= 5; round++) {
        MUST(cudaMemset(device, round, N * sizeof(int)));
        MUST(cudaMemcpyAsync(job.from, device, N * sizeof(int), cudaMemcpyDeviceToHost, 0));
        MUST(cudaLaunchHostFunc(0, multiply, &job));
        sem_wait(&job.done);
        HOLDS(job.from[N - 1] == 0x01010101 * round, "round %d: %x", round, job.from[N - 1]);
    }
    MUST(cudaDeviceSynchronize());
    MUST(cudaFree(device));
    MUST(cudaFreeHost(job.from));
}

static void wait_long(void *data)
{
    sleep(*(int *)data);
}

static void wait_for_job(void *data)
{
    sem_wait(&((struct job *)data)->done);
}

// A function that goes on for ever keeps no other stream's event from being over.
static void beside(int gpu)
{
    struct job job = {NULL, NULL, 1, 0, cudaSuccess};
    cudaStream_t held, other;
    cudaEvent_t event, behind;
    MUST(cudaSetDevice(gpu));
    MUST(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&behind, cudaEventDisableTiming));
    sem_init(&job.done, 0, 0);
    MUST(cudaLaunchHostFunc(held, wait_for_job, &job));
    MUST(cudaEventRecord(behind, held));
    MUST(cudaEventRecord(event, other));
    MUST(cudaEventSynchronize(event));
    HOLDS(cudaEventQuery(event) == cudaSuccess, "an event that was waited for is not over");
    HOLDS(cudaEventQuery(behind) == cudaErrorNotReady, "an event behind the function is over");
    (void)cudaGetLastError(); // "not ready"
    sem_post(&job.done);
    MUST(cudaStreamSynchronize(held));
    HOLDS(cudaEventQuery(behind) == cudaSuccess, "its event is not over after the function");
    MUST(cudaEventDestroy(event));
    MUST(cudaEventDestroy(behind));
    MUST(cudaStreamDestroy(held));
    MUST(cudaStreamDestroy(other));
}

int main(void)
{
    int gpus, seconds = 4;
    MUST(cudaGetDeviceCount(&gpus));
    for (int gpu = 0; gpu < gpus; gpu++) {
        pipeline(gpu);
        unwatched(gpu);
        beside(gpu);
    }
    HOLDS(cudaLaunchHostFunc(0, NULL, NULL) == cudaErrorInvalidValue, "no function");
    HOLDS(cudaStreamAddCallback(0, count, NULL, 1) == cudaErrorInvalidValue, "flags");
    if (gpus == 1) { // longer than a deadlock may last: it is none
        MUST(cudaLaunchHostFunc(0, wait_long, &seconds));
        MUST(cudaDeviceSynchronize());
    }
    printf("host functions on %d GPUs: right\n", gpus);
    return 0;
}

/* SPDX-License-Identifier: MIT
 * threads.c: several host threads at once, each with its own device, buffers and staging; two that
 * free the same memory while copies use it; and more threads one after another than a node has
 * connections if they were not given back.
 */
#include <pthread.h>
#include <string.h>

#include <cuda_runtime.h>

#include "expect.h"

#define THREADS 6
#define ROUNDS 40
#define COUNT 5001
#define LARGE (4 << 20)

static void *work(void *argument)
{
    int number = (int)(long)argument, *host = malloc(COUNT * sizeof *host);
    int *back = malloc(COUNT * sizeof *back);
    void *device;
    OK(cudaSetDevice(number % 4));
    OK(cudaMalloc(&device, COUNT * sizeof *host));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            host[i] = i + number * 1000003 + round * 31;
        OK(cudaMemcpy(device, host, COUNT * sizeof *host, cudaMemcpyHostToDevice));
        memset(back, 0, COUNT * sizeof *back);
        OK(cudaMemcpy(back, device, COUNT * sizeof *back, cudaMemcpyDeviceToHost));
        EXPECT_IS(memcmp(host, back, COUNT * sizeof *host), 0);
    }
    OK(cudaFree(device));
    free(host);
    free(back);
    return NULL;
}

/* ---- two threads, one pointer ---- */

struct twice {
    pthread_barrier_t both;
    cudaError_t (*free)(void *memory);
    void *memory;
    int succeeded, refused; /* of the two */
};

static void *free_memory(void *argument)
{
    struct twice *twice = argument;
    pthread_barrier_wait(&twice->both);
    cudaError_t error = twice->free(twice->memory);
    __atomic_fetch_add(&twice->succeeded, error == cudaSuccess, __ATOMIC_RELAXED);
    __atomic_fetch_add(&twice->refused, error == cudaErrorInvalidValue, __ATOMIC_RELAXED);
    return NULL;
}

/* Copies are pending that use `memory`: each of the two waits for them before it frees. */
static void free_twice(cudaError_t (*how)(void *memory), void *memory, void *to, void *from)
{
    struct twice twice = {.free = how, .memory = memory};
    pthread_t thread[2];
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    for (int i = 0; i < 8; i++)
        OK(cudaMemcpyAsync(to, from, LARGE, cudaMemcpyDefault, stream));
    EXPECT_IS(pthread_barrier_init(&twice.both, NULL, 2), 0);
    for (int i = 0; i < 2; i++)
        EXPECT_IS(pthread_create(&thread[i], NULL, free_memory, &twice), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&twice.both);
    EXPECT_IS(twice.succeeded, 1);
    EXPECT_IS(twice.refused, 1);
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
}

static void free_both_kinds(void)
{
    for (int round = 0; round < 10; round++) {
        void *device, *host;
        OK(cudaMalloc(&device, LARGE));
        OK(cudaMallocHost(&host, LARGE));
        free_twice(cudaFree, device, device, host);
        OK(cudaMalloc(&device, LARGE));
        free_twice(cudaFreeHost, host, device, host);
        OK(cudaFree(device));
    }
}

static void *count_devices(void *argument)
{
    size_t free_bytes, total;
    (void)argument;
    OK(cudaMemGetInfo(&free_bytes, &total));
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        EXPECT_IS(pthread_create(&thread[i], NULL, work, (void *)(long)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    free_both_kinds();
    for (int i = 0; i < 1500; i++) {
        EXPECT_IS(pthread_create(&thread[0], NULL, count_devices, NULL), 0);
        pthread_join(thread[0], NULL);
    }
    return 0;
}

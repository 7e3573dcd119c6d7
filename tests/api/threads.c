/* SPDX-License-Identifier: MIT
 * threads.c: several host threads at once, each with its own device, buffers and staging; and more
 * threads one after another than a node has connections if they were not given back.
 */
#include <pthread.h>
#include <string.h>

#include <cuda_runtime.h>

#include "expect.h"

#define THREADS 6
#define ROUNDS 40
#define COUNT 5001

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
    for (int i = 0; i < 1500; i++) {
        EXPECT_IS(pthread_create(&thread[0], NULL, count_devices, NULL), 0);
        pthread_join(thread[0], NULL);
    }
    return 0;
}

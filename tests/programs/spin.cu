/* SPDX-License-Identifier: MIT
 * spin.cu: a host that waits on pinned memory without any CUDA call. "spin" and "nap": until a
 * kernel has answered, twenty times; "copy": until a copy has; "early": what is there after a
 * nap of 0.2 s, when nobody has waited for the kernel. "kernel" and "thread": the host waits for a
 * kernel, and that one for a copy of another stream, or for a thread that watches what such a copy
 * brings; nobody waits for the copy.
 */
#include "check.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

__global__ void answer(volatile int *question, volatile int *reply, int rounds)
{
    for (int i = 1; i <= rounds; i++) {
        while (*question < i)
            ;
        *reply = i;
    }
}

__global__ void set(volatile int *reply, int value)
{
    *reply = value;
}

static void wait_for(volatile int *reply, int value, bool nap)
{
    while (*reply < value)
        if (nap)
            usleep(1000);
}

/* 0: what the kernel waits for, 8: its answer, 12: what a copy brings. */
static volatile int *words;

static void *watch(void *unused)
{
    (void)unused;
    wait_for(words + 12, 1, true);
    words[0] = 1;
    return NULL;
}

static void wait_for_kernel(int *device, bool thread)
{
    cudaStream_t asked, unasked;
    pthread_t watcher;
    MUST(cudaStreamCreateWithFlags(&asked, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&unasked, cudaStreamNonBlocking));
    set<<<1, 1, 0, unasked>>>(device, 1);
    answer<<<1, 1, 0, asked>>>(words, words + 8, 1);
    MUST(cudaMemcpyAsync((void *)(words + (thread ? 12 : 0)), device, 4, cudaMemcpyDeviceToHost,
                         unasked));
    if (thread)
        pthread_create(&watcher, NULL, watch, NULL);
    MUST(cudaStreamSynchronize(asked));
    if (thread)
        pthread_join(watcher, NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "spin";
    const int rounds = 20;
    bool nap = !strcmp(how, "nap");
    int *host, *device;
    MUST(cudaHostAlloc(&host, 64, cudaHostAllocMapped));
    MUST(cudaMalloc(&device, 64));
    memset(host, 0, 64);
    volatile int *question = host, *reply = host + 8;
    if (!strcmp(how, "early")) {
        set<<<1, 1>>>(reply, 7);
        usleep(200000);
        printf("%d\n", *reply);
    } else if (!strcmp(how, "copy")) {
        set<<<1, 1>>>(device, 7);
        MUST(cudaMemcpyAsync((void *)reply, device, 4, cudaMemcpyDeviceToHost, 0));
        wait_for(reply, 7, nap);
        printf("copy %d\n", *reply);
    } else if (!strcmp(how, "kernel") || !strcmp(how, "thread")) {
        words = host;
        wait_for_kernel(device, !strcmp(how, "thread"));
        printf("%s %d\n", how, *reply);
    } else {
        answer<<<1, 1>>>(question, reply, rounds);
        for (int i = 1; i <= rounds; i++) {
            *question = i;
            wait_for(reply, i, nap);
        }
        printf("%s %d\n", how, *reply);
    }
    MUST(cudaDeviceSynchronize());
    return 0;
}

/* SPDX-License-Identifier: MIT
 * interrupted.c: a program whose timer interrupts every system call, from before its first call on,
 * as profilers and runtimes of other languages do: nothing fails of it.
 */
#include <cuda_runtime_api.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "expect.h"

enum { BYTES = 4 << 20, ROUNDS = 40 };

static volatile sig_atomic_t interrupted;
static atomic_int called;

static void on_alarm(int unused)
{
    (void)unused;
    interrupted++;
}

static void count(void *unused)
{
    (void)unused;
    atomic_fetch_add(&called, 1);
}

/* No SA_RESTART: what is interrupted says so. */
static void interrupt_every(int microseconds)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, microseconds}, {0, microseconds}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static void use(char *host, char *back)
{
    char *device, *pinned;
    cudaStream_t stream;
    OK(cudaMalloc((void **)&device, BYTES));
    OK(cudaMallocHost((void **)&pinned, BYTES));
    OK(cudaStreamCreate(&stream));
    OK(cudaHostRegister(host, BYTES, 0));
    OK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, stream));
    OK(cudaLaunchHostFunc(stream, count, NULL));
    OK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
    EXPECT(memcmp(back, host, BYTES) == 0 && memcmp(pinned, host, BYTES) == 0);
    OK(cudaHostUnregister(host));
    OK(cudaStreamDestroy(stream));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(device));
}

int main(void)
{
    char *host = malloc(BYTES), *back = malloc(BYTES);
    memset(host, 5, BYTES);
    interrupt_every(300);
    OK(cudaFree(NULL)); /* starts the node */
    for (int i = 0; i < ROUNDS; i++)
        use(host, back);
    interrupt_every(0);
    EXPECT(interrupted > 10);
    EXPECT_IS(called, ROUNDS);
    free(host);
    free(back);
    return 0;
}

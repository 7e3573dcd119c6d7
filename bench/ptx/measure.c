/* SPDX-License-Identifier: MIT
 * measure.c: what it takes to load a PTX module and to launch each of the kernels named.
 *
 *   bench-ptx MODULE KERNEL...     prints lines: load or launch, wall seconds, processor seconds
 *
 * A launch is one block that is given zeros as arguments, so that it accesses nothing. Processor
 * time is that of this process and of the compilers that it has run.
 */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

struct moment {
    double wall, processor;
};

static double seconds_of(int who)
{
    struct rusage used;
    getrusage(who, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static struct moment now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (struct moment){(double)at.tv_sec + (double)at.tv_nsec / 1e9,
                           seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN)};
}

static void print_since(const char *what, struct moment begun)
{
    struct moment ended = now();
    printf("%s\t%.6f\t%.6f\n", what, ended.wall - begun.wall, ended.processor - begun.processor);
}

static void expect(const char *call, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: error %d\n", call, (int)result);
    exit(EXIT_FAILURE);
}
#define CALL(call) expect(#call, call)

int main(int argc, char **argv)
{
    static char zeros[4096];
    void *arguments[64];
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;

    if (argc < 2)
        return 2;
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
        arguments[i] = zeros;
    CALL(cuInit(0));
    CALL(cuDeviceGet(&device, 0));
    CALL(cuDevicePrimaryCtxRetain(&context, device));
    CALL(cuCtxSetCurrent(context));
    CALL(cuCtxSynchronize());
    struct moment begun = now();
    CALL(cuModuleLoad(&module, argv[1]));
    print_since("load", begun);
    for (int i = 2; i < argc; i++) {
        CALL(cuModuleGetFunction(&kernel, module, argv[i]));
        begun = now();
        CALL(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
        CALL(cuCtxSynchronize());
        print_since("launch", begun);
    }
    return 0;
}

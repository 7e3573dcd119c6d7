/* SPDX-License-Identifier: MIT
 * cases.h: a program of many small cases, one of which runs: its name is the argument; without one
 * it lists them, each with its diagnosis. A case `bad_*` makes one mistake; the lines marked
 * "@bad_*" must be in the sentence about it. A case `near_*` looks like one and is right.
 */
#ifndef CASES_H
#define CASES_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call)                                                                                 \
    do {                                                                                           \
        cudaError_t must_ = (call);                                                                \
        if (must_ != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(must_));                                                    \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

struct test_case {
    const char *code, *name;
    void (*run)(void);
};
/* clang-format off */
#define CASE(code, name) {code, #name, name}
/* clang-format on */

static int run_case(const struct test_case *all, int count, int argc, char **argv)
{
    for (int i = 0; i < count; i++) {
        if (argc == 1)
            printf("%s %s\n", all[i].code, all[i].name);
        else if (strcmp(argv[1], all[i].name) == 0)
            all[i].run();
        else
            continue;
        if (argc > 1)
            return 0;
    }
    return argc > 1 ? 2 : 0;
}

static inline void *device_memory(int gpu, size_t bytes)
{
    void *p;
    MUST(cudaSetDevice(gpu));
    MUST(cudaMalloc(&p, bytes));
    return p;
}

static inline void *pinned_memory(size_t bytes)
{
    void *p;
    MUST(cudaMallocHost(&p, bytes));
    memset(p, 0, bytes);
    return p;
}

static inline cudaStream_t stream_on(int gpu, unsigned flags)
{
    cudaStream_t s;
    MUST(cudaSetDevice(gpu));
    MUST(cudaStreamCreateWithFlags(&s, flags));
    return s;
}

static inline cudaEvent_t event_on(int gpu)
{
    cudaEvent_t e;
    MUST(cudaSetDevice(gpu));
    MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    return e;
}

static inline void wait_for_all(int gpus)
{
    for (int g = 0; g < gpus; g++) {
        MUST(cudaSetDevice(g));
        MUST(cudaDeviceSynchronize());
    }
}

static inline void enable_peers(void)
{
    MUST(cudaSetDevice(0));
    MUST(cudaDeviceEnablePeerAccess(1, 0));
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceEnablePeerAccess(0, 0));
}

#endif

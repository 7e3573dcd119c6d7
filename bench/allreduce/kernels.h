/* SPDX-License-Identifier: MIT
 * kernels.h: the interface of the kernels for group.cu and engines.cu.
 */
#ifndef AR_KERNELS_H
#define AR_KERNELS_H

#include "device.h"

#define AR_TWO_SHOT_THREADS 1024 /* most threads of a block */
#define AR_SLICES 2              /* slices of the copy engines' phases, which overlap */

/* The kernel for n ranks, 2 .. AR_RANKS; null for other n. */
const void *ar_one_shot_kernel(int n);
const void *ar_two_shot_kernel(int n);

/* Loads a kernel's code to the current GPU now. CUDA would load it at the first launch, and may
 * then wait for the GPU: possibly for a kernel that waits for the one to be launched. */
cudaError_t ar_load_kernel(const void *kernel);

/* Returns the instance of a kernel for n ranks from the enclosing function. */
#define AR_KERNEL_OF(kernel, n)                                                                    \
    switch (n) {                                                                                   \
    case 2:                                                                                        \
        return (const void *)kernel<2>;                                                            \
    case 3:                                                                                        \
        return (const void *)kernel<3>;                                                            \
    case 4:                                                                                        \
        return (const void *)kernel<4>;                                                            \
    case 5:                                                                                        \
        return (const void *)kernel<5>;                                                            \
    case 6:                                                                                        \
        return (const void *)kernel<6>;                                                            \
    case 7:                                                                                        \
        return (const void *)kernel<7>;                                                            \
    case 8:                                                                                        \
        return (const void *)kernel<8>;                                                            \
    default:                                                                                       \
        return NULL;                                                                               \
    }

/* engines.cu: a rank's streams and memory for the copy engines' way. */
struct ar_engines {
    float *inbox; /* [n][longest part]: this rank's part as others sent it */
    cudaStream_t send, signal,
        share;            /* reduce-scatter's copies, their flags, all-gather's copies */
    cudaEvent_t event[4]; /* used in turn: see engines.cu */
};

struct ar_call_for {
    struct ar_device device;
    const struct ar_engines *engines; /* of all ranks */
    float *const *recv;               /* of all ranks */
    const float *send;
    size_t count;
    cudaStream_t stream;
};

cudaError_t ar_engines_open(struct ar_engines *e, int n, size_t most);
void ar_engines_close(struct ar_engines *e);
cudaError_t ar_engines_call(const struct ar_call_for *c);

#endif

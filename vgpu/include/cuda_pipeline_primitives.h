/* SPDX-License-Identifier: MIT
 * cuda_pipeline_primitives.h: copies from global into shared memory that a thread starts and waits
 * for later, as functions of C. Each is made at once; other threads may count on it only behind the
 * wait and a barrier, as in CUDA.
 */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "cuda_awbarrier_primitives.h"

/* size_and_align is 4, 8 or 16; the last `zfill` of these bytes become 0. */
__device__ static inline void __pipeline_memcpy_async(void *__restrict__ dst_shared,
                                                      const void *__restrict__ src_global,
                                                      size_t size_and_align, size_t zfill = 0)
{
    unsigned char *to = (unsigned char *)dst_shared;
    const unsigned char *from = (const unsigned char *)src_global;

    if ((size_and_align != 4 && size_and_align != 8 && size_and_align != 16) ||
        zfill > size_and_align)
        __trap();
    if (zfill == 0 && size_and_align == 4)
        *(int *)dst_shared = *(const int *)src_global;
    else if (zfill == 0 && size_and_align == 8)
        *(int2 *)dst_shared = *(const int2 *)src_global;
    else if (zfill == 0)
        *(int4 *)dst_shared = *(const int4 *)src_global;
    else
        for (size_t i = 0; i < size_and_align; i++)
            to[i] = i < size_and_align - zfill ? from[i] : 0;
}

__device__ static inline void __pipeline_commit() {}

__device__ static inline void __pipeline_wait_prior(size_t prior)
{
    (void)prior;
}

/* The thread arrives once its copies so far are done; the barrier expects that beside its own
 * arrivals, so that its count stays as it is. */
__device__ static inline void __pipeline_arrive_on(__mbarrier_t *barrier)
{
    (void)barrier;
}

#endif

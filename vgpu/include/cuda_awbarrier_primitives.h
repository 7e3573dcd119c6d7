/* SPDX-License-Identifier: MIT
 * cuda_awbarrier_primitives.h: barriers in shared memory on which some threads of a block arrive
 * and others wait, as functions of C.
 */
#ifndef _CUDA_AWBARRIER_PRIMITIVES_H_
#define _CUDA_AWBARRIER_PRIMITIVES_H_

#include "cuda_runtime.h"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

__host__ __device__ static inline uint32_t __mbarrier_maximum_count()
{
    return (1 << 14) - 1;
}

__device__ static inline void __mbarrier_init(__mbarrier_t *barrier, uint32_t expected_count)
{
    vgpu_mbarrier(VGPU_MBARRIER_INIT, barrier, expected_count);
}

__device__ static inline void __mbarrier_inval(__mbarrier_t *barrier)
{
    vgpu_mbarrier(VGPU_MBARRIER_INVAL, barrier, 0);
}

__device__ static inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier)
{
    return vgpu_mbarrier(VGPU_MBARRIER_ARRIVE, barrier, 1);
}

__device__ static inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier)
{
    return vgpu_mbarrier(VGPU_MBARRIER_ARRIVE_DROP, barrier, 1);
}

__device__ static inline uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token)
{
    return (uint32_t)vgpu_mbarrier(VGPU_MBARRIER_PENDING, NULL, token);
}

__device__ static inline bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token)
{
    return vgpu_mbarrier(VGPU_MBARRIER_TEST, barrier, token) != 0;
}

__device__ static inline bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool phase_parity)
{
    return vgpu_mbarrier(VGPU_MBARRIER_TEST_PARITY, barrier, phase_parity) != 0;
}

/* The time is a limit, not a promise: they answer at once. */
__device__ static inline bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token,
                                                  uint32_t max_sleep_nanosec)
{
    (void)max_sleep_nanosec;
    return __mbarrier_test_wait(barrier, token);
}

__device__ static inline bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool phase_parity,
                                                         uint32_t max_sleep_nanosec)
{
    (void)max_sleep_nanosec;
    return __mbarrier_test_wait_parity(barrier, phase_parity);
}

#endif

/* SPDX-License-Identifier: MIT
 * cuda_pipeline.h: the copies of cuda_pipeline_primitives.h with a class for their batches,
 * nvcuda::experimental::pipeline. Newer programs have cuda::pipeline of libcu++.
 */
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include "cuda_awbarrier.h"
#include "cuda_pipeline_primitives.h"

namespace nvcuda
{
namespace experimental
{
class pipeline
{
  public:
    __device__ pipeline() : batch(0) {}
    pipeline(const pipeline &) = delete;
    pipeline &operator=(const pipeline &) = delete;

    /* The batch of the copies since the last commit. */
    __device__ size_t commit()
    {
        __pipeline_commit();
        return batch++;
    }

    __device__ void commit_and_wait()
    {
        commit();
        wait_prior<0>();
    }

    __device__ void wait(size_t number)
    {
        __pipeline_wait_prior(batch > number ? batch - number : 0);
    }

    template <unsigned N> __device__ void wait_prior()
    {
        __pipeline_wait_prior(N);
    }

    __device__ void arrive_on(awbarrier &barrier)
    {
        __pipeline_arrive_on(&barrier.barrier);
    }

  private:
    size_t batch;
};

/* N elements from `ptr` on, for the second memcpy_async. */
template <size_t N, typename T> __device__ inline auto segment(T *ptr) -> T (*)[N]
{
    return (T(*)[N])ptr;
}

template <class T> __device__ inline void memcpy_async(T &dst, const T &src, pipeline &)
{
    dst = src;
}

/* 4, 8 or 16 bytes; what the source has less becomes T(). */
template <class T, size_t To, size_t From>
__device__ inline void memcpy_async(T (*dst)[To], const T (*src)[From], pipeline &)
{
    static_assert(sizeof *dst == 4 || sizeof *dst == 8 || sizeof *dst == 16,
                  "4, 8 or 16 bytes can be copied");
    static_assert(From <= To, "the source is larger than the destination");
    for (size_t i = 0; i < To; i++)
        (*dst)[i] = i < From ? (*src)[i] : T();
}
} // namespace experimental
} // namespace nvcuda

#endif

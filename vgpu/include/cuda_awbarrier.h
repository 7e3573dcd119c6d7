/* SPDX-License-Identifier: MIT
 * cuda_awbarrier.h: the barriers of cuda_awbarrier_primitives.h as a class,
 * nvcuda::experimental::awbarrier.
 */
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_

#include "cuda_awbarrier_primitives.h"

namespace nvcuda
{
namespace experimental
{
class awbarrier
{
  public:
    class arrival_token
    {
      public:
        arrival_token() = default;

        __device__ uint32_t pending_count() const
        {
            return __mbarrier_token_pending_count(token);
        }

      private:
        __device__ explicit arrival_token(__mbarrier_token_t value) : token(value) {}

        __mbarrier_token_t token;
        friend class awbarrier;
    };

    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;

    __device__ arrival_token arrive()
    {
        return arrival_token(__mbarrier_arrive(&barrier));
    }

    __device__ arrival_token arrive_and_drop()
    {
        return arrival_token(__mbarrier_arrive_and_drop(&barrier));
    }

    __device__ bool try_wait(arrival_token token, uint32_t nanoseconds)
    {
        return __mbarrier_try_wait(&barrier, token.token, nanoseconds);
    }

    __device__ bool try_wait_parity(bool phase, uint32_t nanoseconds)
    {
        return __mbarrier_try_wait_parity(&barrier, phase, nanoseconds);
    }

    /* Until the phase has ended or so many cycles have passed. */
    __device__ bool timed_wait(arrival_token token, uint32_t cycles)
    {
        long long start = clock64();
        bool ended;

        do
            ended = __mbarrier_test_wait(&barrier, token.token);
        while (!ended && clock64() - start < cycles);
        return ended;
    }

    __device__ bool timed_wait_parity(bool phase, uint32_t cycles)
    {
        long long start = clock64();
        bool ended;

        do
            ended = __mbarrier_test_wait_parity(&barrier, phase);
        while (!ended && clock64() - start < cycles);
        return ended;
    }

    __device__ void wait(arrival_token token)
    {
        while (!__mbarrier_test_wait(&barrier, token.token))
            continue;
    }

    __device__ void arrive_and_wait()
    {
        wait(arrive());
    }

    __host__ __device__ static constexpr uint32_t max()
    {
        return (1 << 14) - 1;
    }

  private:
    __mbarrier_t barrier;

    friend __device__ inline void init(awbarrier *barrier, uint32_t expected_count);
    friend __device__ inline void inval(awbarrier *barrier);
    friend class pipeline;
};

__device__ inline void init(awbarrier *barrier, uint32_t expected_count)
{
    __mbarrier_init(&barrier->barrier, expected_count);
}

__device__ inline void inval(awbarrier *barrier)
{
    __mbarrier_inval(&barrier->barrier);
}
} // namespace experimental
} // namespace nvcuda

#endif

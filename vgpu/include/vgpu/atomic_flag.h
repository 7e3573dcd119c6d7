/* SPDX-License-Identifier: MIT
 * atomic_flag.h: cuda::std::atomic_flag: a lock's one bit. Part of <cuda/atomic>.
 */
#ifndef VGPU_ATOMIC_FLAG_H
#define VGPU_ATOMIC_FLAG_H

namespace cuda
{

template <thread_scope Scope = thread_scope_system> class vgpu_flag
{
    atomic<unsigned int, Scope> set;

  public:
    vgpu_flag() = default;
    constexpr vgpu_flag(bool value) : set(value) {}
    __host__ __device__ bool test(memory_order order = memory_order_seq_cst) const
    {
        return set.load(order) != 0;
    }
    __host__ __device__ bool test_and_set(memory_order order = memory_order_seq_cst)
    {
        return set.exchange(1, order) != 0;
    }
    __host__ __device__ void clear(memory_order order = memory_order_seq_cst)
    {
        set.store(0, order);
    }
};

typedef vgpu_flag<> atomic_flag;

namespace std
{
using ::cuda::atomic_flag;
}

} // namespace cuda

#endif

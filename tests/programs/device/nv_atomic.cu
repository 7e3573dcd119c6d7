/* SPDX-License-Identifier: MIT
 * nv_atomic.cu: nvcc's built-in atomic functions (__nv_atomic_*): what each leaves and returns, for
 * each type, and a message from one block to another. The types of the indices are CUDA's, too.
 */
#include <type_traits>

#include "../check.h"

static_assert(std::is_same<decltype(blockDim), const dim3>::value, "blockDim");
static_assert(std::is_same<decltype(gridDim), const dim3>::value, "gridDim");
static_assert(std::is_same<decltype(threadIdx), const uint3>::value, "threadIdx");

enum { SYSTEM = __NV_THREAD_SCOPE_SYSTEM, DEVICE = __NV_THREAD_SCOPE_DEVICE };
enum { RELAXED = __NV_ATOMIC_RELAXED, ACQUIRE = __NV_ATOMIC_ACQUIRE };
enum { RELEASE = __NV_ATOMIC_RELEASE, SEQ_CST = __NV_ATOMIC_SEQ_CST };
enum { THREADS = 96 };

struct point {
    float x, y;
};

template <class T> __global__ void arithmetic(T *value, T *old)
{
    T i = (T)threadIdx.x;
    __nv_atomic_fetch_add(&value[0], i, RELAXED);
    __nv_atomic_fetch_sub(&value[1], i, __NV_ATOMIC_ACQ_REL, DEVICE);
    if (threadIdx.x == 0)
        old[0] = __nv_atomic_fetch_add(&value[2], (T)5, SEQ_CST, __NV_THREAD_SCOPE_BLOCK);
}

template <class T> __global__ void bits(T *value)
{
    T i = (T)threadIdx.x, one = 1;
    __nv_atomic_fetch_min(&value[0], i - 7, RELAXED);
    __nv_atomic_fetch_max(&value[1], i, RELAXED, __NV_THREAD_SCOPE_CLUSTER);
    __nv_atomic_fetch_or(&value[2], one << (i % 20), RELAXED);
    __nv_atomic_fetch_and(&value[3], ~(one << (i % 20)), RELAXED);
    __nv_atomic_fetch_xor(&value[4], one << (i % 20), RELAXED);
}

__global__ void exchanges(point *p, long long *d, int *result)
{
    point next = {3, 4}, old;
    __nv_atomic_exchange(p, &next, &old, SEQ_CST);
    result[0] = old.x == 1 && old.y == 2;
    point wrong = {1, 2}, last = {5, 6};
    result[1] = !__nv_atomic_compare_exchange(p, &wrong, &last, true, SEQ_CST, RELAXED);
    result[2] = wrong.x == 3 && wrong.y == 4;
    result[3] = __nv_atomic_compare_exchange(p, &wrong, &last, false, RELEASE, ACQUIRE, DEVICE);
    long long was = __nv_atomic_exchange_n(d, 25ll << 40, __NV_ATOMIC_ACQ_REL);
    result[4] = was == 15;
    result[5] = __nv_atomic_compare_exchange_n(d, &was, 0ll, false, RELAXED, RELAXED) == false;
    result[6] = was == 25ll << 40;
    short s = 0, got;
    __nv_atomic_store_n(&s, (short)-3, RELAXED, __NV_THREAD_SCOPE_THREAD);
    __nv_atomic_load(&s, &got, RELAXED);
    point stored = {7, 8}, loaded;
    __nv_atomic_store(p + 1, &stored, SEQ_CST);
    __nv_atomic_load(p + 1, &loaded, SEQ_CST);
    result[7] = got == -3 && loaded.x == 7 && loaded.y == 8;
}

/* Block 1 waits for block 0. */
__global__ void message(int *data, int *flag, int *got)
{
    if (blockIdx.x == 0) {
        int value = 77, one = 1;
        __nv_atomic_store(data, &value, RELAXED);
        __nv_atomic_thread_fence(RELEASE, DEVICE);
        __nv_atomic_store_n(flag, one, RELEASE, DEVICE);
    } else {
        while (__nv_atomic_load_n(flag, ACQUIRE, DEVICE) == 0)
            ;
        *got = *data;
    }
}

template <class T> static T *zeros(int count)
{
    T *p;
    MUST(cudaMallocManaged(&p, count * sizeof *p));
    MUST(cudaMemset(p, 0, count * sizeof *p));
    return p;
}

template <class T> static void adds(const char *type)
{
    T *value = zeros<T>(3), *old = zeros<T>(1), sum = (T)(THREADS * (THREADS - 1) / 2);
    arithmetic<<<1, THREADS>>>(value, old);
    MUST(cudaDeviceSynchronize());
    HOLDS(value[0] == sum && value[1] == (T)(0 - sum) && value[2] == 5 && old[0] == 0, "%s", type);
}

template <class T> static void sets_bits(const char *type, T least)
{
    T *value = zeros<T>(5), all = (1 << 20) - 1, odd = 0xffff;
    MUST(cudaMemset(&value[3], -1, sizeof(T)));
    bits<<<1, THREADS>>>(value);
    MUST(cudaDeviceSynchronize());
    HOLDS(value[0] == least && value[1] == THREADS - 1 && value[2] == all && value[3] == (T)~all,
          "%s", type);
    HOLDS(value[4] == odd, "%s: %llx", type,
          (unsigned long long)value[4]); /* 0 to 15: five times */
}

int main()
{
    adds<int>("int");
    adds<unsigned>("unsigned");
    adds<unsigned long long>("unsigned long long");
    adds<float>("float");
    adds<double>("double");
    sets_bits<int>("int", -7);
    sets_bits<long long>("long long", -7);
    sets_bits<unsigned>("unsigned", 0);
    sets_bits<unsigned long long>("unsigned long long", 0);

    point *p = zeros<point>(2);
    long long *d = zeros<long long>(1);
    int *result = zeros<int>(8), *words = zeros<int>(3);
    MUST(cudaDeviceSynchronize());
    *p = {1, 2};
    *d = 15;
    exchanges<<<1, 1>>>(p, d, result);
    message<<<2, 1>>>(&words[0], &words[1], &words[2]);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < 8; i++)
        HOLDS(result[i], "exchange %d", i);
    HOLDS(p->x == 5 && p->y == 6 && *d == 25ll << 40, "%g %g %lld", p->x, p->y, *d);
    HOLDS(words[2] == 77, "%d", words[2]);
    return 0;
}

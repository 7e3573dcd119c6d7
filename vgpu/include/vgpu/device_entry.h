/* SPDX-License-Identifier: MIT
 * device_entry.h: what the device pass makes for every kernel and every __shared__ variable.
 *
 * vgpu_kernel_of<type, kernel, id, threads>::call is the entry of struct vgpu_kernel: it takes the
 * arguments as pointers and calls the kernel. Its marks tell vgpu-cc which kernel it is and what
 * sizes the parameters have. It is not instrumented: its reads of the arguments are no accesses of
 * the program.
 */
#ifndef VGPU_DEVICE_ENTRY_H
#define VGPU_DEVICE_ENTRY_H

template <unsigned... I> struct vgpu_indices {
};

template <unsigned N, unsigned... I> struct vgpu_count : vgpu_count<N - 1, N - 1, I...> {
};

template <unsigned... I> struct vgpu_count<0, I...> {
    typedef vgpu_indices<I...> type;
};

template <class T> struct vgpu_is_reference {
    static constexpr bool value = false;
};

template <class T> struct vgpu_is_reference<T &> {
    static constexpr bool value = true;
};

template <class T> struct vgpu_is_reference<T &&> {
    static constexpr bool value = true;
};

template <class P> struct vgpu_parameter {
    static_assert(!vgpu_is_reference<P>::value,
                  "a kernel's parameter cannot be a reference: the host's object does not exist on "
                  "the device; pass it by value, or a device pointer");
    static_assert(vgpu_is_reference<P>::value || __is_trivially_copyable(P),
                  "a kernel's parameter is copied byte by byte: its type must be trivially "
                  "copyable");
    static constexpr unsigned bytes = sizeof(P);

    __attribute__((always_inline)) static inline int mark()
    {
        __asm__ volatile("\n# vgpu.param %c0" : : "i"(bytes));
        return 0;
    }
};

constexpr unsigned vgpu_sum()
{
    return 0;
}

template <class... More> constexpr unsigned vgpu_sum(unsigned first, More... more)
{
    return first + vgpu_sum(more...);
}

template <class F, F kernel, int id, int threads> struct vgpu_kernel_of {
    static_assert(id < 0, "a __global__ function must return void and take a fixed list of "
                          "parameters");
};

template <class... P, void (*kernel)(P...), int id, int threads>
struct vgpu_kernel_of<void (*)(P...), kernel, id, threads> {
    static_assert(vgpu_sum(vgpu_parameter<P>::bytes...) <= VGPU_ARGS_MAX,
                  "a kernel's parameters take at most 4096 bytes");
    static_assert(threads >= 1 && threads <= VGPU_BLOCK_THREADS_MAX,
                  "__launch_bounds__ is 1 to 1024 threads");

    template <unsigned... I>
    __attribute__((always_inline, no_sanitize("thread"))) static inline void
    pass(void **args, vgpu_indices<I...>)
    {
        (void)args;
        kernel(*(P *)args[I]...);
    }

    __attribute__((used, noinline, no_sanitize("thread"))) static void call(void **args)
    {
        __asm__ volatile("\n# vgpu.kernel %c0 %c1 %c2 %c3"
                         :
                         : "i"(id), "i"(kernel), "i"(threads), "i"(sizeof...(P)));
        int marks[] = {0, vgpu_parameter<P>::mark()...};
        (void)marks;
        pass(args, typename vgpu_count<sizeof...(P)>::type());
    }
};

/* ---- __shared__ ---- */

/* A declaration's number; each instance of a template has storage of its own, so there the
 * function's full name goes in (it has a [ only with template arguments). */
#if __cplusplus < 201402L /* one return statement, as C++11 wants it */
constexpr uint32_t vgpu_hash(const char *text, uint32_t hash)
{
    return *text == 0 ? hash : vgpu_hash(text + 1, (hash ^ (unsigned char)*text) * 16777619u);
}

constexpr bool vgpu_has_arguments(const char *text)
{
    return *text != 0 && (*text == '[' || vgpu_has_arguments(text + 1));
}
#else
constexpr uint32_t vgpu_hash(const char *text, uint32_t hash)
{
    while (*text != 0)
        hash = (hash ^ (unsigned char)*text++) * 16777619u;
    return hash;
}

constexpr bool vgpu_has_arguments(const char *text)
{
    while (*text != 0 && *text != '[')
        text++;
    return *text != 0;
}
#endif

constexpr uint32_t vgpu_shared_number(uint32_t seed, const char *function)
{
    return vgpu_has_arguments(function) ? vgpu_hash(function, 2166136261u ^ seed) : seed;
}

#endif

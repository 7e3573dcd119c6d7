// SPDX-License-Identifier: MIT
// Device code may declare functions with any number of arguments, and ask for their types, but have
// none.
template <class T> __device__ char is_pointer(T *);
__device__ long is_pointer(...);

static_assert(sizeof(is_pointer((int *)nullptr)) == 1 && sizeof(is_pointer(0.5)) != 1, "types");

__device__ int sum(int n, ...) //!1 a function with any number of arguments (...) in device code
{
    return n;
}

// SPDX-License-Identifier: MIT
// What the compiler finds out about types, said at the kernel or the variable.
#include <string>

struct with_constructor {
    with_constructor() : n(1) {}
    int n;
};
struct too_big {
    char bytes[5000];
};
struct not_copyable {
    not_copyable(const not_copyable &) {}
};

static int run_time();

__device__ int dynamic = run_time(); //!16 constant initializer

__global__ void shared()
{
    __shared__ with_constructor object; //! a __shared__ variable's type must have no constructor
    __shared__ char much[50000];        //! a block has 48 KiB of static shared memory
    object.n = much[0];
}

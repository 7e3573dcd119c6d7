// SPDX-License-Identifier: MIT
// Kernels that are members of classes, parameters that are __grid_constant__ and not const, and
// __managed__ variables that are const.
__managed__ const int one = 1; //!1 a __managed__ variable must not be const
const __managed__ int pair[] = {1, 2}; //!7 a __managed__ variable must not be const
__managed__ int *const pointer = nullptr; //!1 a __managed__ variable must not be const
namespace space {
struct big {
    int n[4];
    friend __global__ void befriended(big b);
};
__global__ void befriended(const __grid_constant__ big b) {}
__global__ void constant(__grid_constant__ const big b, int *p) {}
template <class T, class U> struct two {};
__global__ void of_template(const two<int, big> __grid_constant__ b) {}
__global__ void writable(const int n, __grid_constant__ big b) {} //!39 a __grid_constant__
} // namespace space

struct point {
    static __global__ void kernel(int *p) { *p = 1; } //! kernel 'point::kernel' is a member of a
    int x;
};
class __align__(8) other {
  public:
    static __global__ void kernel() {} //! kernel 'other::kernel' is a member of a class
};

int main()
{
    point::kernel<<<1, 1>>>(nullptr);
    other::kernel<<<1, 1>>>();
}

// C++17: if constexpr, structured bindings, inline variables, fold expressions.
#include <type_traits>
inline constexpr int scale = 3;
struct pair {
    int a, b;
};
template <class... T> __device__ int sum(T... t)
{
    return (t + ...);
}
template <class T> __global__ void k(T *p)
{
    auto [a, b] = pair{1, 2};
    if constexpr (std::is_floating_point_v<T>)
        *p = sum(a, b, scale) * 0.5f;
    else
        *p = sum(a, b, scale);
}
int main()
{
    k<<<1, 1>>>((int *)nullptr);
    k<<<1, 1>>>((float *)nullptr);
}

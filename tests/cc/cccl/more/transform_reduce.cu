// SPDX-License-Identifier: MIT
// thrust::transform_reduce with a lambda, zip and counting iterators, inner_product.
// prints: transformed and reduced
#include <thrust/device_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>

#include "../check.h"

struct weigh {
    __host__ __device__ double operator()(const thrust::tuple<double, int> &both) const
    {
        return thrust::get<0>(both) * thrust::get<1>(both);
    }
};

int main()
{
    const int n = 1000;
    double wanted = 0, squares = 0;
    thrust::device_vector<double> x(n), y(n);

    thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n),
                      x.begin(), [] __device__(int i) { return i * 0.5; });
    thrust::transform(
        thrust::make_zip_iterator(thrust::make_tuple(x.begin(), thrust::counting_iterator<int>(0))),
        thrust::make_zip_iterator(thrust::make_tuple(x.end(), thrust::counting_iterator<int>(n))),
        y.begin(), weigh());
    for (int i = 0; i < n; i++) {
        wanted += i * 0.5 * i;
        squares += i * 0.25 * i;
    }
    CHECK(thrust::reduce(y.begin(), y.end()) == wanted);
    CHECK(thrust::transform_reduce(
              x.begin(), x.end(), [] __host__ __device__(double v) { return v * v; }, 0.0,
              thrust::plus<double>()) == squares);
    CHECK(thrust::inner_product(x.begin(), x.end(), x.begin(), 0.0) == squares);
    std::puts("transformed and reduced");
    return 0;
}

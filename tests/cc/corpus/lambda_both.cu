// A __host__ __device__ lambda, used on both sides.
// options: --extended-lambda
template <class F> __global__ void run(int *p, F f)
{
    *p = f(1);
}
int main()
{
    auto f = [] __host__ __device__(int i) { return 2 * i; };
    run<<<1, 1>>>(nullptr, f);
    return f(0);
}

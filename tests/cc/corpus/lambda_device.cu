// A __device__ lambda.
// options: --extended-lambda
template <class F> __global__ void run(F f)
{
    f(threadIdx.x);
}
int main()
{
    int *p = nullptr;
    run<<<1, 32>>>([=] __device__(int i) { p[i] = i; });
}

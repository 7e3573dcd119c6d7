// A __device__ lambda that captures by reference.
// options: --extended-lambda
template <class F> __global__ void run(F f)
{
    f();
}
int main()
{
    int n = 0;
    run<<<1, 1>>>([&] __device__() { n = 1; });
    return n;
}

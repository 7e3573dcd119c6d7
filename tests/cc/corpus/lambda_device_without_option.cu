// A __device__ lambda, without the option that nvcc wants for it.
template <class F> __global__ void run(F f)
{
    f(threadIdx.x);
}
int main()
{
    int *p = nullptr;
    run<<<1, 32>>>([=] __device__(int i) { p[i] = i; });
}

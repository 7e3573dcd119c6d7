// A lambda of host code, without __device__, is handed to a kernel.
template <class F> __global__ void run(F f)
{
    f();
}
int main()
{
    int *p = nullptr;
    run<<<1, 1>>>([=] { *p = 1; });
}

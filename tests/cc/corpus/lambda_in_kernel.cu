// A lambda inside of a kernel.
__global__ void k(int *p)
{
    auto add = [=](int x) { return x + *p; };
    *p = add(threadIdx.x);
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

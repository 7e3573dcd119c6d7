// __launch_bounds__, with and without the number of blocks.
__global__ void __launch_bounds__(256) a(int *p)
{
    *p = 1;
}
template <int N> __global__ void __launch_bounds__(N, 2) b(int *p)
{
    *p = N;
}
int main()
{
    a<<<1, 256>>>(nullptr);
    b<128><<<1, 128>>>(nullptr);
}

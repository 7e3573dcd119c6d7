// A constexpr function gives an array's size, and a constant.
constexpr int square(int x)
{
    return x * x;
}
__global__ void k(int *p)
{
    __shared__ int tile[square(4)];
    constexpr int n = square(3);
    tile[threadIdx.x] = n;
    *p = tile[0];
}
int main()
{
    k<<<1, 16>>>(nullptr);
}

// A kernel calls a host function.
int square(int x)
{
    return x * x;
}
__global__ void k(int *p)
{
    *p = square(*p);
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

// Ways to make a dim3.
__global__ void k() {}
int main()
{
    dim3 a, b(2), c(2, 3), d = {1, 2, 3}, e = 4;
    a.x = 5;
    k<<<a, b>>>();
    k<<<c, d>>>();
    k<<<e, dim3(1, 1)>>>();
}

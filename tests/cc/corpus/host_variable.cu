// A kernel reads a host variable.
int n = 3;
__global__ void k(int *p)
{
    *p = n;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

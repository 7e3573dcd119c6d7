// __launch_bounds__ of a variable.
int n = 256;
__global__ void __launch_bounds__(n) k(int *p)
{
    *p = 1;
}
int main()
{
    k<<<1, 256>>>(nullptr);
}

// A launch with one argument less.
__global__ void k(int *p, int n)
{
    *p = n;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

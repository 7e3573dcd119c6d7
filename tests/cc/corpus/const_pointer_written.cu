// A kernel writes through a pointer to const.
__global__ void k(const int *p)
{
    p[0] = 1;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

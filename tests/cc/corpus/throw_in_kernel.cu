// throw in a kernel.
__global__ void k(int *p)
{
    if (p == nullptr)
        throw 1;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

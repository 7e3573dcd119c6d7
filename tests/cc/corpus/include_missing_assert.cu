// assert without its header, in a kernel.
__global__ void k(int *p)
{
    assert(p != nullptr);
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

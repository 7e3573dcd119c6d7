// A static variable in a kernel.
__global__ void k(int *p)
{
    static int calls = 0;
    *p = calls++;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

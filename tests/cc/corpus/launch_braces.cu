// Braces for dim3.
__global__ void k() {}
int main()
{
    k<<<{2, 2}, {8, 8}>>>();
}

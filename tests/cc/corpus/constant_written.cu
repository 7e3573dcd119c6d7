// A kernel writes constant memory.
__constant__ int n;
__global__ void k()
{
    n = 1;
}
int main()
{
    k<<<1, 1>>>();
}

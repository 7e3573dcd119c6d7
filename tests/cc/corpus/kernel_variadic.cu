// A kernel with a variable number of arguments.
__global__ void k(int n, ...) {}
int main()
{
    k<<<1, 1>>>(1, 2);
}

// A kernel is called like a function.
__global__ void k(int *p)
{
    *p = 1;
}
int main()
{
    k(nullptr);
}

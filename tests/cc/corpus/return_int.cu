// A kernel that returns a value.
__global__ int k(int *p)
{
    return *p;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

// A name is not declared.
__global__ void k(int *p)
{
    p[i] = 1;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

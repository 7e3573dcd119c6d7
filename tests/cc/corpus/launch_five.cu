// Five launch parameters.
__global__ void k(int *p)
{
    *p = 1;
}
int main()
{
    k<<<1, 1, 0, 0, 0>>>(nullptr);
}

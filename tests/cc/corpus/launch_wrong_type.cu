// A pointer to float for a pointer to int.
__global__ void k(int *p)
{
    *p = 1;
}
int main()
{
    float *f = nullptr;
    k<<<1, 1>>>(f);
}

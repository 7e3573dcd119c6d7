// __grid_constant__ on a const parameter.
struct big {
    int n[64];
};
__global__ void k(const __grid_constant__ big b, int *p)
{
    *p = b.n[threadIdx.x];
}
int main()
{
    k<<<1, 1>>>(big(), nullptr);
}

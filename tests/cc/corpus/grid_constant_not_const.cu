// __grid_constant__ on a parameter that is not const.
struct big {
    int n[64];
};
__global__ void k(__grid_constant__ big b, int *p)
{
    *p = b.n[threadIdx.x];
}
int main()
{
    k<<<1, 1>>>(big(), nullptr);
}

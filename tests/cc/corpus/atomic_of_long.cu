// atomicAdd of a signed long long: CUDA has the unsigned one only.
__global__ void k(long long *p)
{
    atomicAdd(p, 1ll);
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

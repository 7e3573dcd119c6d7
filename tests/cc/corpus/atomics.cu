// Atomics of the usual types.
__global__ void k(int *i, float *f, double *d, unsigned long long *u)
{
    atomicAdd(i, 1), atomicAdd(f, 1.0f), atomicAdd(d, 1.0), atomicAdd(u, 1ull);
    atomicCAS(i, 0, 1), atomicExch(f, 2.0f), atomicMax(i, 3), atomicAdd_system(i, 1);
}
int main()
{
    k<<<1, 1>>>(nullptr, nullptr, nullptr, nullptr);
}

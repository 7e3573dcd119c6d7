// Two arrays of dynamic shared memory by one name, of different types.
__global__ void a(float *p)
{
    extern __shared__ float tile[];
    tile[0] = *p;
}
__global__ void b(int *p)
{
    extern __shared__ int tile[];
    tile[0] = *p;
}
int main()
{
    a<<<1, 1, 4>>>(nullptr);
    b<<<1, 1, 4>>>(nullptr);
}

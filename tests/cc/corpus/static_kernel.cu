// static and inline kernels.
static __global__ void a(int *p)
{
    *p = 1;
}
inline __global__ void b(int *p)
{
    *p = 2;
}
int main()
{
    a<<<1, 1>>>(nullptr);
    b<<<1, 1>>>(nullptr);
}

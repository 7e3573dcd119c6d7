// const and __restrict__, and __ldg.
__global__ void k(const float *__restrict__ in, float *__restrict__ out)
{
    *out = __ldg(in);
}
int main()
{
    k<<<1, 1>>>(nullptr, nullptr);
}

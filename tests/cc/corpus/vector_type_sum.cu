// float4 has no operator +.
__global__ void k(float4 *p)
{
    *p = *p + *p;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

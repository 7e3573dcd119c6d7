// Half precision.
#include <cuda_fp16.h>
__global__ void k(__half *p, half2 *q)
{
    *p = __hadd(*p, __float2half(1.0f)) * __half(2.0f);
    *q = __hfma2(*q, *q, __float2half2_rn(0));
}
int main()
{
    k<<<1, 1>>>(nullptr, nullptr);
}

// Warp primitives.
__global__ void k(int *p)
{
    int v = threadIdx.x;
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    unsigned votes = __ballot_sync(0xffffffff, v > 3);
    __syncwarp();
    *p = v + __popc(votes);
}
int main()
{
    k<<<1, 32>>>(nullptr);
}

// Inline PTX that reads the lane.
__global__ void k(unsigned *p)
{
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    *p = lane;
}
int main()
{
    k<<<1, 32>>>(nullptr);
}

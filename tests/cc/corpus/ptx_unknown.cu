// Inline PTX that is no instruction.
__global__ void k()
{
    asm volatile("frobnicate.u32;");
}
int main()
{
    k<<<1, 1>>>();
}

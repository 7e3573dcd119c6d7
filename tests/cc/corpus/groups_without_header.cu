// Cooperative groups without their header.
__global__ void k()
{
    cooperative_groups::this_thread_block().sync();
}
int main()
{
    k<<<1, 1>>>();
}

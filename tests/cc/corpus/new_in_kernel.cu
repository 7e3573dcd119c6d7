// new and delete in a kernel: CUDA has a heap on the device.
__global__ void k(int *p)
{
    int *mine = new int[4];
    mine[0] = *p;
    *p = mine[0];
    delete[] mine;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

// <<<>>> with the grid only.
__global__ void k(int *p)
{
    *p = 1;
}
int main()
{
    k<<<1>>>(nullptr);
}

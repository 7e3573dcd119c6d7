// <<<>>> with nothing in it.
__global__ void k(int *p)
{
    *p = 1;
}
int main()
{
    k<<<>>>(nullptr);
}

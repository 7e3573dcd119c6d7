// A pointer to const for one that is written through.
__global__ void k(int *p)
{
    *p = 1;
}
void go(const int *p)
{
    k<<<1, 1>>>(p);
}
int main()
{
    go(nullptr);
}

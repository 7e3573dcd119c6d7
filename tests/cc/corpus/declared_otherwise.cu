// A kernel is declared without __global__ and defined with it.
void k(int *p);
__global__ void k(int *p)
{
    *p = 1;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

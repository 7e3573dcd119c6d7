// A __managed__ variable that is const.
__managed__ const int n = 1;
__global__ void k(int *p)
{
    *p = n;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

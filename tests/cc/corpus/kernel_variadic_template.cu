// A kernel template with a pack.
template <class... T> __global__ void k(int *p, T... t)
{
    *p = (t + ...);
}
int main()
{
    k<<<1, 1>>>(nullptr, 1, 2, 3);
}

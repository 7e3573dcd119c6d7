// A concept, without -std=c++20.
template <class T>
concept small = sizeof(T) <= 4;
template <small T> __global__ void k(T *p)
{
    *p = 1;
}
int main()
{
    k<<<1, 1>>>((int *)nullptr);
}

// The template's argument cannot be found: int and double.
template <class T> __global__ void fill(T *p, T value)
{
    *p = value;
}
int main()
{
    fill<<<1, 1>>>((double *)nullptr, 1);
}

// A kernel template, its arguments given and found.
template <class T, int N> __global__ void fill(T *p, T value)
{
    for (int i = 0; i < N; i++)
        p[i] = value;
}
int main()
{
    fill<float, 4><<<1, 1>>>(nullptr, 1.0f);
    fill<int, 8><<<1, 1>>>(nullptr, 1);
}

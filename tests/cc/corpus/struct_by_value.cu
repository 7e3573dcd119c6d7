// A struct as a parameter, with methods for both sides.
struct matrix {
    int rows, columns;
    float *data;
    __host__ __device__ int size() const
    {
        return rows * columns;
    }
    __device__ float &at(int r, int c)
    {
        return data[r * columns + c];
    }
};
__global__ void k(matrix m)
{
    if (threadIdx.x < m.size())
        m.at(0, threadIdx.x) = 1;
}
int main()
{
    matrix m = {1, 32, nullptr};
    k<<<1, m.size()>>>(m);
}

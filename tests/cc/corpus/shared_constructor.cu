// __shared__ of a class with a constructor.
struct point {
    int x;
    __device__ point() : x(1) {}
};
__global__ void k(int *p)
{
    __shared__ point q;
    *p = q.x;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

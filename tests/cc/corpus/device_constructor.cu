// A __device__ object with a constructor that does something.
struct point {
    int x;
    __device__ point()
    {
        x = threadIdx.x;
    }
};
__device__ point p;
int main()
{
    return 0;
}

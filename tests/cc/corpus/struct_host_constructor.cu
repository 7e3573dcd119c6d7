// A kernel makes an object whose constructor is the host's.
struct point {
    int x;
    point(int v) : x(v) {}
};
__global__ void k(int *p)
{
    *p = point(3).x;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

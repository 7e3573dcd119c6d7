// A kernel's parameter is a reference.
struct point {
    int x;
};
__global__ void k(point &p)
{
    p.x = 1;
}
int main()
{
    point p = {0};
    k<<<1, 1>>>(p);
}

// A kernel that is a static method.
struct point {
    static __global__ void k(int *p)
    {
        *p = 1;
    }
};
int main()
{
    point::k<<<1, 1>>>(nullptr);
}

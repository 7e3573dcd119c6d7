// A destructor of the host's, of an object that a kernel makes.
struct guard {
    int n = 0;
    ~guard()
    {
        n = 1;
    }
};
__global__ void k(int *p)
{
    guard g;
    *p = g.n;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

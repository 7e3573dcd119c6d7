// A kernel that is a method.
struct point {
    int x;
    __global__ void k()
    {
        x = 1;
    }
};
int main()
{
    return 0;
}

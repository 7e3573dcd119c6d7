// __shared__ in a host function.
int main()
{
    __shared__ int n;
    return n;
}

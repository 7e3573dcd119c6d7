// Host code calls atomicAdd.
int main()
{
    int n = 0;
    atomicAdd(&n, 1);
    return n;
}

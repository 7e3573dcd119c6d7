// cudaMalloc of an int.
int main()
{
    int n;
    return cudaMalloc(n, 4);
}

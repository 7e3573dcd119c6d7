// cudaMemcpy without its direction.
int main()
{
    int h = 0, *d;
    cudaMalloc(&d, 4);
    return cudaMemcpy(d, &h, 4);
}

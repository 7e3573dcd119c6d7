// A host and a __device__ function of the same name and parameters.
int where()
{
    return 0;
}
__device__ int where()
{
    return 1;
}
int main()
{
    return where();
}

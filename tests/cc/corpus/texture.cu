// A texture object is read.
__global__ void k(cudaTextureObject_t t, float *p)
{
    *p = tex2D<float>(t, 0.5f, 0.5f);
}
int main()
{
    k<<<1, 1>>>(0, nullptr);
}

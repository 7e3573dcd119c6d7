// The check macro that everybody writes.
#include <cstdio>
#include <cstdlib>
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_));        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
__global__ void k(int *p)
{
    *p = 1;
}
int main()
{
    int *p;
    CHECK(cudaMalloc(&p, sizeof(int)));
    k<<<1, 1>>>(p);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

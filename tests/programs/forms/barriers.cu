/* SPDX-License-Identifier: MIT
 * barriers.cu: kernels whose barriers are counted.
 */
__global__ void rounds(int *p, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, v = t;
    for (int k = 0; k < n; k++) {
        s[t] = v;
        __syncthreads();
        v += s[63 - t];
        __syncthreads();
    }
    p[blockIdx.x * 64 + t] = v;
}
__global__ void sort(int *p) // one barrier in two loops, and a condition of each thread's between
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = p[blockIdx.x * 64 + t] * 37 % 101;
    for (int size = 2; size <= 64; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int other = t ^ d;
            if (other > t && (s[t] > s[other]) == !(t & size)) {
                int x = s[t];
                s[t] = s[other];
                s[other] = x;
            }
        }
    __syncthreads();
    p[blockIdx.x * 64 + t] = s[t];
}
int main()
{
    int *p;
    cudaMalloc(&p, 2048);
    rounds<<<8, 64>>>(p, 3);
    sort<<<8, 64>>>(p);
    return cudaDeviceSynchronize();
}

/* SPDX-License-Identifier: MIT
 * reduce.h: the block reduction: 9 barriers per block. A header, because it is compiled twice: by
 * kernels.cu as in any program, and by plain.cu without the callbacks before its accesses.
 */
static __global__ void reduce(const float *in, float *out)
{
    __shared__ float part[BLOCK];
    unsigned t = threadIdx.x;
    part[t] = in[(size_t)blockIdx.x * BLOCK + t];
    __syncthreads();
    for (unsigned step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

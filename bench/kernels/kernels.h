/* SPDX-License-Identifier: MIT
 * kernels.h: the kernels that programs.cu times, as CUDA; kernels.cl has the same in OpenCL C.
 */
#include "measure.h"

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void stencil(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = 0.25f * (in[(y - 1) * n + x] + in[(y + 1) * n + x] + in[y * n + x - 1] +
                                  in[y * n + x + 1]);
}

/* 16 barriers a block. */
__global__ void tree(float *out, const float *in)
{
    __shared__ float s[THREADS];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    for (int d = THREADS / 2; d > 0; d /= 2) {
        __syncthreads();
        float other = t < d ? s[t + d] : 0;
        __syncthreads();
        s[t] += other;
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void histogram(unsigned *bins, const unsigned *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i] % BINS], 1u);
}

__global__ void bodies(float4 *force, const float4 *body, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 me = body[i];
    float x = 0, y = 0, z = 0;
    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float near = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
        float pull = other.w * near * near * near;
        x += pull * dx;
        y += pull * dy;
        z += pull * dz;
    }
    force[i] = make_float4(x, y, z, 0);
}

__global__ void product(float *c, const float *a, const float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

__global__ void tiles(float *c, const float *a, const float *b, int n)
{
    __shared__ float s[TILE][TILE], t[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

__global__ void shuffles(float *out, const float *in)
{
    __shared__ float s[THREADS / WARP];
    int t = threadIdx.x;
    float sum = in[blockIdx.x * blockDim.x + t];
    for (int d = WARP / 2; d > 0; d /= 2)
        sum += SHUFFLE_DOWN(sum, d);
    if (t % WARP == 0)
        s[t / WARP] = sum;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < THREADS / WARP; k++)
            sum += s[k];
        out[blockIdx.x] = sum;
    }
}

__global__ void scan(float *out, const float *in)
{
    __shared__ float s[THREADS];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = in[i];
    __syncthreads();
    for (int d = 1; d < THREADS; d *= 2) {
        float other = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += other;
        __syncthreads();
    }
    out[i] = s[t];
}

__global__ void transposed(float *out, const float *in, int n)
{
    __shared__ float s[TILE][TILE + 1];
    int x = blockIdx.x * TILE, y = blockIdx.y * TILE, tx = threadIdx.x, ty = threadIdx.y;
    s[ty][tx] = in[(y + ty) * n + x + tx];
    __syncthreads();
    out[(x + ty) * n + y + tx] = s[tx][ty];
}

/* Each block sorts 256 numbers by Batcher's bitonic network. */
__global__ void sort(float *out, const float *in)
{
    __shared__ float s[SORTED];
    int t = threadIdx.x, first = blockIdx.x * SORTED;
    s[t] = in[first + t];
    for (int size = 2; size <= SORTED; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int other = t ^ d;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
                float a = s[t];
                s[t] = s[other];
                s[other] = a;
            }
        }
    __syncthreads();
    out[first + t] = s[t];
}

/* The same with two numbers for each of 128 threads. */
__global__ void pairs(float *out, const float *in)
{
    __shared__ float s[SORTED];
    int t = threadIdx.x, first = blockIdx.x * SORTED;
    s[t] = in[first + t];
    s[t + SORTED / 2] = in[first + t + SORTED / 2];
    for (int size = 2; size <= SORTED; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int low = 2 * t - (t & (d - 1));
            float a = s[low], b = s[low + d];
            if ((a > b) == ((low & size) == 0)) {
                s[low] = b;
                s[low + d] = a;
            }
        }
    __syncthreads();
    out[first + t] = s[t];
    out[first + t + SORTED / 2] = s[t + SORTED / 2];
}

__global__ void add(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += from[i];
}

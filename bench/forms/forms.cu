/* SPDX-License-Identifier: MIT
 * forms.cu: kernels that can have the fast form (docs/virtual-node.md): prints for each its name,
 * the least time of some launches in seconds, and a sum of its output. `forms --tiny`: small sizes.
 * compare.py runs it in both forms.
 */
#include <cuda_runtime.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

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

enum { TILE = 16 };

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

__global__ void sums(float *out, const float *in, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void turned(float *out, const float *in, int n)
{
    __shared__ float s[TILE][TILE + 1];
    int x = blockIdx.x * TILE, y = blockIdx.y * TILE, tx = threadIdx.x, ty = threadIdx.y;
    s[ty][tx] = in[(y + ty) * n + x + tx];
    __syncthreads();
    out[(x + ty) * n + y + tx] = s[tx][ty];
}

enum { LAUNCHES = 3 };
static float *x, *y, *host;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void start(size_t floats)
{
    for (size_t i = 0; i < floats; i++)
        host[i] = (float)(i * 2654435761u % 1000) / 1000;
    CHECK(cudaMemcpy(x, host, floats * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(y, host, floats * sizeof(float), cudaMemcpyHostToDevice));
}

static unsigned long long sum(size_t floats)
{
    unsigned long long all = 1469598103934665603ull;
    CHECK(cudaMemcpy(host, y, floats * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < floats; i++) {
        unsigned bits;
        memcpy(&bits, host + i, sizeof bits);
        all = (all ^ bits) * 1099511628211ull;
    }
    return all;
}

#define TIME(name, floats, launch)                                                                 \
    do {                                                                                           \
        double least = 1e9;                                                                        \
        start(floats);                                                                             \
        for (int i = 0; i < LAUNCHES; i++) {                                                       \
            double begun = seconds();                                                              \
            launch;                                                                                \
            CHECK(cudaGetLastError());                                                             \
            CHECK(cudaDeviceSynchronize());                                                        \
            least = fmin(least, seconds() - begun);                                                \
        }                                                                                          \
        printf("%s\t%.6f\t%llx\n", name, least, sum(floats));                                      \
    } while (0)

int main(int argc, char **argv)
{
    int tiny = argc > 1 && strcmp(argv[1], "--tiny") == 0;
    int all = tiny ? 1 << 16 : 1 << 24, side = tiny ? 256 : 4096, small = tiny ? 64 : 512,
        count = tiny ? 256 : 4096;
    size_t bytes = (size_t)all * sizeof(float);

    host = (float *)malloc(bytes);
    CHECK(cudaMalloc(&x, bytes));
    CHECK(cudaMalloc(&y, bytes));
    TIME("saxpy", all, (saxpy<<<all / 256, 256>>>(y, x, 2, all)));
    TIME("stencil", all, (stencil<<<dim3(side / 32, side / 8), dim3(32, 8)>>>(y, x, side)));
    TIME("product", small * small,
         (product<<<dim3(small / 16, small / 16), dim3(16, 16)>>>(y, x, x, small)));
    TIME("tiles", small * small,
         (tiles<<<dim3(small / TILE, small / TILE), dim3(TILE, TILE)>>>(y, x, x, small)));
    TIME("sums", all / 256, (sums<<<all / 256, 256>>>(y, x, all)));
    TIME("turned", all, (turned<<<dim3(side / TILE, side / TILE), dim3(TILE, TILE)>>>(y, x, side)));
    TIME("bodies", 4 * count, (bodies<<<count / 64, 64>>>((float4 *)y, (float4 *)x, count)));
    return 0;
}

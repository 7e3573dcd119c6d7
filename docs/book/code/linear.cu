// SPDX-License-Identifier: MIT
// linear.cu: two linear layers over two GPUs: the first cut by columns, the second by rows.
#include <stdio.h>

#include "check.h"

#define N 64 // X is N x N, and so are A and B

// out[N x columns] = x[N x depth] * w[depth x columns]; rows of x are `pitch` apart.
__global__ void multiply(const float *x, int pitch, int depth, const float *w, int columns,
                         float *out)
{
    int row = blockIdx.x;
    for (int column = threadIdx.x; column < columns; column += blockDim.x) {
        float sum = 0;
        for (int k = 0; k < depth; k++)
            sum += x[row * pitch + k] * w[k * columns + column];
        out[row * columns + column] = sum;
    }
}

__global__ void add(float *mine, const float *theirs, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine[i] += theirs[i];
}

static float x[N * N], a[N * N], b[N * N], z[N * N];

static float *upload(const float *from, size_t count)
{
    float *p;
    CHECK(cudaMalloc((void **)&p, count * sizeof *p));
    if (from)
        CHECK(cudaMemcpy(p, from, count * sizeof *p, cudaMemcpyDefault));
    return p;
}

// Columns [first, first + count) of a weight.
static float *columns_of(const float *w, int first, int count)
{
    static float part[N * N];
    for (int k = 0; k < N; k++)
        for (int j = 0; j < count; j++)
            part[k * count + j] = w[k * N + first + j];
    return upload(part, (size_t)N * count);
}

// book: linear
static float *half(int gpu)
{
    const int h = N / 2;
    CHECK(cudaSetDevice(gpu));
    float *dx = upload(x, N * N);                       // everybody has X
    float *da = columns_of(a, gpu * h, h);              // half of A's columns
    float *db = upload(b + gpu * h * N, (size_t)h * N); // half of B's rows
    float *y = upload(NULL, (size_t)N * h), *part = upload(NULL, N * N);
    multiply<<<N, 64>>>(dx, N, N, da, h, y);   // half of Y's columns: nothing to send
    multiply<<<N, 64>>>(y, h, h, db, N, part); // a part of every element of Z
    return part;
}

static void both(void)
{
    float *part0 = half(0), *part1 = half(1), *inbox;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    inbox = upload(NULL, N * N);
    CHECK(cudaMemcpyPeer(inbox, 0, part1, 1, sizeof z)); // the all-reduce, for two
    add<<<16, 256>>>(part0, inbox, N * N);
    CHECK(cudaMemcpy(z, part0, sizeof z, cudaMemcpyDefault));
}
// book: end

// Small whole numbers: every sum is exact, in any order.
static int wrong(void)
{
    static float y[N * N];
    int count = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++)
                y[i * N + j] += x[i * N + k] * a[k * N + j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float want = 0;
            for (int k = 0; k < N; k++)
                want += y[i * N + k] * b[k * N + j];
            count += z[i * N + j] != want;
        }
    return count;
}

int main(void)
{
    for (int i = 0; i < N * N; i++) {
        x[i] = (float)(i % 5);
        a[i] = (float)(i % 7) - 3;
        b[i] = (float)(i % 3) - 1;
    }
    both();
    printf("%d of %d elements differ from one GPU's; one all-reduce for two layers\n", wrong(),
           N * N);
    return 0;
}

/* SPDX-License-Identifier: MIT
 * kernels.cl: the kernels of kernels.h in OpenCL C, which has no shuffles in version 1.2.
 */
#pragma OPENCL FP_CONTRACT OFF
#define TILE 16
#define THREADS 256
#define BINS 256
#define SORTED 256

__kernel void saxpy(__global float *y, __global const float *x, float a, int n)
{
    int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__kernel void stencil(__global float *out, __global const float *in, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = 0.25f * (in[(y - 1) * n + x] + in[(y + 1) * n + x] + in[y * n + x - 1] +
                                  in[y * n + x + 1]);
}

__kernel void tree(__global float *out, __global const float *in)
{
    __local float s[THREADS];
    int t = get_local_id(0);
    s[t] = in[get_global_id(0)];
    for (int d = THREADS / 2; d > 0; d /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float other = t < d ? s[t + d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        s[t] += other;
    }
    if (t == 0)
        out[get_group_id(0)] = s[0];
}

__kernel void histogram(__global unsigned *bins, __global const unsigned *in, int n)
{
    int i = get_global_id(0);
    if (i < n)
        atomic_add(&bins[in[i] % BINS], 1u);
}

__kernel void bodies(__global float4 *force, __global const float4 *body, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float4 me = body[i];
    float x = 0, y = 0, z = 0;
    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
        float near = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
        float pull = other.w * near * near * near;
        x += pull * dx;
        y += pull * dy;
        z += pull * dz;
    }
    force[i] = (float4)(x, y, z, 0);
}

__kernel void product(__global float *c, __global const float *a, __global const float *b, int n)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

__kernel void tiles(__global float *c, __global const float *a, __global const float *b, int n)
{
    __local float s[TILE][TILE], t[TILE][TILE];
    int x = get_global_id(0), y = get_global_id(1), tx = get_local_id(0), ty = get_local_id(1);
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        s[ty][tx] = a[y * n + k + tx];
        t[ty][tx] = b[(k + ty) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; i++)
            sum += s[ty][i] * t[i][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * n + x] = sum;
}

/* The same by local memory alone, as OpenCL 1.2 has it to be written. */
__kernel void shuffles(__global float *out, __global const float *in)
{
    __local float s[THREADS];
    int t = get_local_id(0);
    s[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = THREADS / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = s[0];
}

__kernel void scan(__global float *out, __global const float *in)
{
    __local float s[THREADS];
    int t = get_local_id(0), i = get_global_id(0);
    s[t] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < THREADS; d *= 2) {
        float other = t >= d ? s[t - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        s[t] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = s[t];
}

__kernel void transposed(__global float *out, __global const float *in, int n)
{
    __local float s[TILE][TILE + 1];
    int x = get_group_id(0) * TILE, y = get_group_id(1) * TILE;
    int tx = get_local_id(0), ty = get_local_id(1);
    s[ty][tx] = in[(y + ty) * n + x + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(x + ty) * n + y + tx] = s[tx][ty];
}

__kernel void sort(__global float *out, __global const float *in)
{
    __local float s[SORTED];
    int t = get_local_id(0), first = get_group_id(0) * SORTED;
    s[t] = in[first + t];
    for (int size = 2; size <= SORTED; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            int other = t ^ d;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
                float a = s[t];
                s[t] = s[other];
                s[other] = a;
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[first + t] = s[t];
}

__kernel void pairs(__global float *out, __global const float *in)
{
    __local float s[SORTED];
    int t = get_local_id(0), first = get_group_id(0) * SORTED;
    s[t] = in[first + t];
    s[t + SORTED / 2] = in[first + t + SORTED / 2];
    for (int size = 2; size <= SORTED; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            int low = 2 * t - (t & (d - 1));
            float a = s[low], b = s[low + d];
            if ((a > b) == ((low & size) == 0)) {
                s[low] = b;
                s[low + d] = a;
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[first + t] = s[t];
    out[first + t + SORTED / 2] = s[t + SORTED / 2];
}

__kernel void add(__global float *to, __global const float *from, int n)
{
    int i = get_global_id(0);
    if (i < n)
        to[i] += from[i];
}

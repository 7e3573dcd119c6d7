// SPDX-License-Identifier: MIT
// nbody.cu: gravity between all pairs of bodies. Every GPU moves a slice of them; after each step
// the slices travel to all the others, and events tell when they are there.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));        \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

constexpr int BODIES = 1024, TILE = 128, STEPS = 4;
constexpr float SOFTENING = 1e-2f, DT = 0.01f;

__host__ __device__ inline float3 pull(float4 self, float4 other, float3 a)
{
    float3 r = make_float3(other.x - self.x, other.y - self.y, other.z - self.z);
    float d2 = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
    float inverse = 1.0f / sqrtf(d2);
    float s = other.w * inverse * inverse * inverse;
    return make_float3(a.x + r.x * s, a.y + r.y * s, a.z + r.z * s);
}

__global__ void __launch_bounds__(TILE)
    step(const float4 *__restrict__ old, float4 *__restrict__ next, float3 *velocity, int first)
{
    __shared__ float4 tile[TILE];
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    float4 self = old[i];
    float3 a = {0.0f, 0.0f, 0.0f};

    for (int base = 0; base < BODIES; base += TILE) {
        tile[threadIdx.x] = old[base + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; k++)
            a = pull(self, tile[k], a);
        __syncthreads();
    }
    float3 v = velocity[i - first];
    v = make_float3(v.x + a.x * DT, v.y + a.y * DT, v.z + a.z * DT);
    velocity[i - first] = v;
    next[i] = make_float4(self.x + v.x * DT, self.y + v.y * DT, self.z + v.z * DT, self.w);
}

struct Gpu {
    float4 *position[2];
    float3 *velocity;
    cudaStream_t stream;
    cudaEvent_t sent;
    int first, count;
};

static void reference(std::vector<float4> &p)
{
    std::vector<float3> v(BODIES, float3{0, 0, 0});
    for (int s = 0; s < STEPS; s++) {
        std::vector<float4> next(p);
        for (int i = 0; i < BODIES; i++) {
            float3 a = {0, 0, 0};
            for (int k = 0; k < BODIES; k++)
                a = pull(p[i], p[k], a);
            v[i] = make_float3(v[i].x + a.x * DT, v[i].y + a.y * DT, v[i].z + a.z * DT);
            next[i].x += v[i].x * DT;
            next[i].y += v[i].y * DT;
            next[i].z += v[i].z * DT;
        }
        p.swap(next);
    }
}

int main()
{
    int gpus = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    std::vector<float4> start(BODIES);
    srand(7);
    for (float4 &b : start)
        b = make_float4(rand() / (float)RAND_MAX, rand() / (float)RAND_MAX,
                        rand() / (float)RAND_MAX, 1.0f / BODIES);

    std::vector<Gpu> gpu(gpus);
    for (int d = 0; d < gpus; d++) {
        Gpu &g = gpu[d];
        CHECK(cudaSetDevice(d));
        for (int peer = 0, can; peer < gpus; peer++)
            if (peer != d && cudaDeviceCanAccessPeer(&can, d, peer) == cudaSuccess && can)
                CHECK(cudaDeviceEnablePeerAccess(peer, 0));
        g.count = BODIES / gpus;
        g.first = d * g.count;
        for (float4 *&p : g.position)
            CHECK(cudaMalloc(&p, BODIES * sizeof(float4)));
        CHECK(cudaMalloc(&g.velocity, g.count * sizeof(float3)));
        CHECK(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&g.sent, cudaEventDisableTiming));
        CHECK(cudaMemcpy(g.position[0], start.data(), BODIES * sizeof(float4),
                         cudaMemcpyHostToDevice));
        CHECK(cudaMemsetAsync(g.velocity, 0, g.count * sizeof(float3), g.stream));
    }
    for (int s = 0; s < STEPS; s++) {
        int from = s & 1, to = from ^ 1;
        for (int d = 0; d < gpus; d++) {
            Gpu &g = gpu[d];
            CHECK(cudaSetDevice(d));
            step<<<g.count / TILE, TILE, 0, g.stream>>>(g.position[from], g.position[to],
                                                        g.velocity, g.first);
            CHECK(cudaGetLastError());
            for (int p = 0; p < gpus; p++)
                if (p != d)
                    CHECK(cudaMemcpyPeerAsync(gpu[p].position[to] + g.first, p,
                                              g.position[to] + g.first, d, g.count * sizeof(float4),
                                              g.stream));
            CHECK(cudaEventRecord(g.sent, g.stream));
        }
        for (Gpu &g : gpu) // everybody has everything
            for (Gpu &other : gpu)
                CHECK(cudaStreamWaitEvent(g.stream, other.sent, 0));
    }
    std::vector<float4> expected(start), got(BODIES);
    reference(expected);
    double worst = 0;
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamSynchronize(gpu[d].stream));
        CHECK(cudaMemcpy(got.data(), gpu[d].position[STEPS & 1], BODIES * sizeof(float4),
                         cudaMemcpyDeviceToHost));
        for (int i = 0; i < BODIES; i++)
            worst = fmax(worst, fabs(got[i].x - expected[i].x) + fabs(got[i].y - expected[i].y) +
                                    fabs(got[i].z - expected[i].z));
        for (float4 *p : gpu[d].position)
            CHECK(cudaFree(p));
        CHECK(cudaFree(gpu[d].velocity));
        CHECK(cudaStreamDestroy(gpu[d].stream));
        CHECK(cudaEventDestroy(gpu[d].sent));
    }
    printf("%d bodies, %d GPUs, %d steps, largest difference %.2g\n", BODIES, gpus, STEPS, worst);
    bool right = worst < 1e-4;
    puts(right ? "PASS" : "FAIL");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

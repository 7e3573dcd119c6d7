// SPDX-License-Identifier: MIT
// halo_threads.cu: a wave on a 3D grid in the manner of MPI: one thread a GPU is a rank that knows
// its neighbours by mailboxes, packs its faces by kernels and posts them to the other's buffer.
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e));         \
            std::abort();                                                                          \
        }                                                                                          \
    } while (false)

constexpr int NX = 16, NY = 12, NZ = 32, STEPS = 6;

struct Mail { // one face on its way: where it lies, and when it is complete
    std::mutex lock;
    std::condition_variable change;
    cudaEvent_t ready{};
    const float *face{};
    int device = -1;
    bool full = false;

    void post(const float *from, int dev, cudaEvent_t event)
    {
        std::unique_lock<std::mutex> hold(lock);
        change.wait(hold, [this] { return !full; });
        face = from, device = dev, ready = event, full = true;
        change.notify_all();
    }
    template <typename F> void take(F use)
    {
        std::unique_lock<std::mutex> hold(lock);
        change.wait(hold, [this] { return full; });
        use(face, device, ready);
        full = false;
        change.notify_all();
    }
};

__global__ void pack(const float *u, float *face, int z)
{
    int x = threadIdx.x, y = blockIdx.x;
    face[y * NX + x] = u[(z * NY + y) * NX + x];
}

__device__ float at(const float *u, int x, int y, int z)
{
    return u[(z * NY + (y + NY) % NY) * NX + (x + NX) % NX];
}

__global__ void step(const float *now, float *next, int planes)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z + 1;
    if (x >= NX || y >= NY || z > planes)
        return;
    float sum = at(now, x - 1, y, z) + at(now, x + 1, y, z) + at(now, x, y - 1, z) +
                at(now, x, y + 1, z) + at(now, x, y, z - 1) + at(now, x, y, z + 1);
    next[(z * NY + y) * NX + x] = 0.5f * at(now, x, y, z) + sum / 12.0f;
}

static float seed(int x, int y, int z)
{
    return (float)((x * 7 + y * 13 + z * 29) % 31);
}

struct World {
    int ranks;
    std::vector<Mail> up, down; // [rank]: arrives at this rank from above, from below
    explicit World(int n) : ranks(n), up(n), down(n) {}
};

static void rank_main(World &world, int rank, std::vector<float> &result)
{
    const int planes = NZ / world.ranks, above = (rank + 1) % world.ranks,
              below = (rank + world.ranks - 1) % world.ranks;
    const size_t face = NX * NY, bytes = face * sizeof(float);
    std::vector<float> h((planes + 2) * face);
    float *u[2], *out[2][2];
    cudaStream_t stream;
    cudaEvent_t packed[2];

    CK(cudaSetDevice(rank));
    CK(cudaStreamCreate(&stream));
    for (int i = 0; i < 2; i++) {
        CK(cudaMalloc(&u[i], h.size() * sizeof(float)));
        for (float *&o : out[i])
            CK(cudaMalloc(&o, bytes));
        CK(cudaEventCreateWithFlags(&packed[i], cudaEventDisableTiming));
    }
    for (int z = 0; z < planes; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                h[((z + 1) * NY + y) * NX + x] = seed(x, y, rank * planes + z);
    CK(cudaMemcpyAsync(u[0], h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice, stream));
    for (int s = 0; s < STEPS; s++) {
        float *now = u[s % 2], *next = u[(s + 1) % 2];
        pack<<<NY, NX, 0, stream>>>(now, out[s % 2][0], 1);
        pack<<<NY, NX, 0, stream>>>(now, out[s % 2][1], planes);
        CK(cudaEventRecord(packed[s % 2], stream));
        world.up[below].post(out[s % 2][0], rank, packed[s % 2]);
        world.down[above].post(out[s % 2][1], rank, packed[s % 2]);
        auto receive = [&](Mail &mail, float *to) {
            mail.take([&](const float *from, int device, cudaEvent_t ready) {
                CK(cudaStreamWaitEvent(stream, ready, 0));
                CK(cudaMemcpyPeerAsync(to, rank, from, device, bytes, stream));
                CK(cudaStreamSynchronize(stream)); // the sender may pack again
            });
        };
        receive(world.up[rank], now + (planes + 1) * face);
        receive(world.down[rank], now);
        dim3 block(8, 4, 4), grid((NX + 7) / 8, (NY + 3) / 4, (planes + 3) / 4);
        step<<<grid, block, 0, stream>>>(now, next, planes);
        CK(cudaGetLastError());
    }
    CK(cudaMemcpyAsync(&result[rank * planes * face], u[STEPS % 2] + face, planes * bytes,
                       cudaMemcpyDeviceToHost, stream));
    CK(cudaStreamSynchronize(stream));
}

int main()
{
    int gpus = 0, wrong = 0;
    CK(cudaGetDeviceCount(&gpus));
    World world(gpus);
    std::vector<float> got(NX * NY * NZ), now(got.size()), next(got.size());
    std::vector<std::thread> ranks;
    for (int r = 0; r < gpus; r++)
        ranks.emplace_back(rank_main, std::ref(world), r, std::ref(got));
    for (auto &t : ranks)
        t.join();
    auto i = [](int x, int y, int z) {
        return ((z + NZ) % NZ * NY + (y + NY) % NY) * NX + (x + NX) % NX;
    };
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                now[i(x, y, z)] = seed(x, y, z);
    for (int s = 0; s < STEPS; s++, now.swap(next))
        for (int z = 0; z < NZ; z++)
            for (int y = 0; y < NY; y++)
                for (int x = 0; x < NX; x++)
                    next[i(x, y, z)] =
                        0.5f * now[i(x, y, z)] +
                        (now[i(x - 1, y, z)] + now[i(x + 1, y, z)] + now[i(x, y - 1, z)] +
                         now[i(x, y + 1, z)] + now[i(x, y, z - 1)] + now[i(x, y, z + 1)]) /
                            12.0f;
    for (size_t k = 0; k < got.size(); k++)
        wrong += !(got[k] - now[k] < 1e-3f && now[k] - got[k] < 1e-3f);
    std::printf("%d ranks, %d steps, %d of %zu cells wrong: %s\n", gpus, STEPS, wrong, got.size(),
                wrong ? "FAIL" : "PASS");
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

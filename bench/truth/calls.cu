// SPDX-License-Identifier: MIT
// calls.cu: what the host pays: first calls of a process, calls in a queue and alone, waiting for
// another GPU, graphs over two GPUs, memory of pools. Two GPUs; everything by the host's clock but
// what ends in `.gpu_us`.
#include "rows.h"

#include <cstring>
#include <thread>

static cudaStream_t stream[2];
static cudaEvent_t start[2], stop[2], join[2], other[2];
static char *buffer[2], *host;

__global__ void nothing() {}

__global__ void touch(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

static double once(const std::function<void()> &work)
{
    double begin = host_us();
    work();
    return host_us() - begin;
}

static double on_host(const std::function<void()> &work)
{
    return median([&] { return once(work); });
}

static void wait_all()
{
    for (int g = 1; g >= 0; g--) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceSynchronize());
    }
}

// The time of the call only: `work` is waited for, untimed.
static double call(const std::function<void()> &work)
{
    return median([&] {
        double time = once(work);
        wait_all();
        return time;
    });
}

static double on_gpu(const std::function<void()> &work)
{
    return median([&] {
        CHECK(cudaEventRecord(start[0], stream[0]));
        work();
        CHECK(cudaEventRecord(stop[0], stream[0]));
        CHECK(cudaEventSynchronize(stop[0]));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start[0], stop[0]));
        return static_cast<double>(ms) * 1e3;
    });
}

static void use(int gpu)
{
    CHECK(cudaSetDevice(gpu));
}

static void first_calls()
{
    int n;
    row(once([&] { CHECK(cudaGetDeviceCount(&n)); }), "first.count.us");
    for (int g = 0; g < 2; g++)
        row(once([&] {
                use(g);
                CHECK(cudaFree(nullptr));
            }),
            "first.context[%d].us", g);
    for (int g = 0; g < 2; g++)
        row(once([&] {
                use(g);
                CHECK(cudaDeviceEnablePeerAccess(1 - g, 0));
            }),
            "first.peer[%d].us", g);
    for (int g = 0; g < 2; g++) {
        use(g);
        row(once([&] { CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking)); }),
            "first.stream[%d].us", g);
        row(once([&] { CHECK(cudaEventCreate(&start[g])); }), "first.event[%d].us", g);
        CHECK(cudaEventCreate(&stop[g]));
        CHECK(cudaEventCreateWithFlags(&join[g], cudaEventDisableTiming));
        CHECK(cudaEventCreateWithFlags(&other[g], cudaEventDisableTiming));
        row(once([&] { CHECK(cudaMalloc(&buffer[g], 64 * MIB)); }), "first.malloc[%d].us", g);
    }
    row(once([&] { CHECK(cudaMallocHost(&host, 64 * MIB)); }), "first.malloc_host.64MiB.us");
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < 3; i++)
            row(once([&] {
                    use(g);
                    nothing<<<1, 1, 0, stream[g]>>>();
                    CHECK(cudaStreamSynchronize(stream[g]));
                }),
                "first.launch[%d;%d].us", g, i);
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < 3; i++)
            row(once([&] {
                    use(g);
                    CHECK(cudaMemcpyPeerAsync(buffer[1 - g], 1 - g, buffer[g], g, MIB, stream[g]));
                    CHECK(cudaStreamSynchronize(stream[g]));
                }),
                "first.peer_copy[%d;%d].us", g, i);
    use(0);
    for (int i = 0; i < 3; i++) {
        row(once([&] {
                CHECK(cudaMemcpyAsync(buffer[0], host, MIB, cudaMemcpyDefault, stream[0]));
                CHECK(cudaStreamSynchronize(stream[0]));
            }),
            "first.to_device[%d].us", i);
        row(once([&] {
                CHECK(cudaMemcpyAsync(host, buffer[0], MIB, cudaMemcpyDefault, stream[0]));
                CHECK(cudaStreamSynchronize(stream[0]));
            }),
            "first.to_host[%d].us", i);
        row(once([&] {
                CHECK(cudaMemsetAsync(buffer[0], 0, MIB, stream[0]));
                CHECK(cudaStreamSynchronize(stream[0]));
            }),
            "first.set[%d].us", i);
    }
    for (int i = 0; i < 4; i++) {
        void *p;
        row(once([&] { CHECK(cudaMallocAsync(&p, MIB, stream[0])); }), "first.malloc_async[%d].us",
            i);
        row(once([&] { CHECK(cudaFreeAsync(p, stream[0])); }), "first.free_async[%d].us", i);
        if (i == 1)
            CHECK(cudaStreamSynchronize(stream[0]));
    }
}

static void allocation()
{
    for (size_t bytes : {(size_t)1000, 64 * KIB, MIB, 16 * MIB, 256 * MIB, 1024 * MIB}) {
        void *p;
        row(on_host([&] {
                CHECK(cudaMalloc(&p, bytes));
                CHECK(cudaFree(p));
            }),
            "alloc.malloc_free.%s.us", size_name(bytes));
        row(on_host([&] {
                CHECK(cudaMallocAsync(&p, bytes, stream[0]));
                CHECK(cudaFreeAsync(p, stream[0]));
                CHECK(cudaStreamSynchronize(stream[0]));
            }),
            "alloc.pool.%s.us", size_name(bytes));
        row(on_host([&] {
                CHECK(cudaMallocHost(&p, bytes));
                CHECK(cudaFreeHost(p));
            }),
            "alloc.pinned.%s.us", size_name(bytes));
    }
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    for (size_t bytes : {MIB, 256 * MIB}) {
        void *p;
        row(on_host([&] {
                CHECK(cudaMallocAsync(&p, bytes, stream[0]));
                CHECK(cudaFreeAsync(p, stream[0]));
                CHECK(cudaStreamSynchronize(stream[0]));
            }),
            "alloc.kept.%s.us", size_name(bytes));
    }
}

static void queue(const char *name, int n, const std::function<void()> &work)
{
    row(call([&] {
            for (int i = 0; i < n; i++)
                work();
        }),
        "queue.%s.%d.us", name, n);
    row(on_host([&] {
            for (int i = 0; i < n; i++)
                work();
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "queue.%s.%d.wait.us", name, n);
    row(on_gpu([&] {
            for (int i = 0; i < n; i++)
                work();
        }),
        "queue.%s.%d.gpu_us", name, n);
}

static void queues()
{
    for (int n : {1, 2, 10, 100, 400}) {
        queue("launch", n, [] { nothing<<<1, 32, 0, stream[0]>>>(); });
        queue("peer", n,
              [] { CHECK(cudaMemcpyPeerAsync(buffer[1], 1, buffer[0], 0, 4096, stream[0])); });
        queue("to_device", n,
              [] { CHECK(cudaMemcpyAsync(buffer[0], host, 4096, cudaMemcpyDefault, stream[0])); });
        queue("inside", n, [] {
            CHECK(cudaMemcpyAsync(buffer[0], buffer[0] + MIB, 4096, cudaMemcpyDefault, stream[0]));
        });
        queue("set", n, [] { CHECK(cudaMemsetAsync(buffer[0], 0, 4096, stream[0])); });
        queue("record", n, [] { CHECK(cudaEventRecord(join[0], stream[0])); });
        queue("record_timed", n, [] { CHECK(cudaEventRecord(start[1 - 1], stream[0])); });
    }
}

static void default_stream()
{
    for (size_t bytes : {(size_t)4, 64 * KIB, MIB, 16 * MIB}) {
        const char *size = size_name(bytes);
        row(on_host([&] { CHECK(cudaMemcpyPeer(buffer[1], 1, buffer[0], 0, bytes)); }),
            "default.peer.%s.us", size);
        row(on_host([&] { CHECK(cudaMemcpy(buffer[1], buffer[0], bytes, cudaMemcpyDefault)); }),
            "default.copy_peer.%s.us", size);
        row(on_host([&] {
                CHECK(cudaMemcpy(buffer[1], buffer[0], bytes, cudaMemcpyDefault));
                CHECK(cudaDeviceSynchronize());
            }),
            "default.copy_peer_wait.%s.us", size);
        row(on_host([&] {
                CHECK(cudaMemcpyPeerAsync(buffer[1], 1, buffer[0], 0, bytes, nullptr));
                CHECK(cudaStreamSynchronize(nullptr));
            }),
            "default.peer_async.%s.us", size);
        row(on_host([&] {
                CHECK(cudaMemcpyPeerAsync(buffer[1], 1, buffer[0], 0, bytes, stream[0]));
                CHECK(cudaStreamSynchronize(stream[0]));
            }),
            "default.stream.%s.us", size);
        row(on_host([&] {
                CHECK(cudaMemcpy(buffer[0], buffer[0] + 32 * MIB, bytes, cudaMemcpyDefault));
                CHECK(cudaDeviceSynchronize());
            }),
            "default.inside.%s.us", size);
        row(on_host([&] { CHECK(cudaMemcpy(buffer[0], host, bytes, cudaMemcpyDefault)); }),
            "default.to_device.%s.us", size);
        row(on_host([&] { CHECK(cudaMemcpy(host, buffer[0], bytes, cudaMemcpyDefault)); }),
            "default.to_host.%s.us", size);
    }
}

// Chains of kernels that change the stream at each step; `apart`: and the GPU.
static void chain(int steps, bool apart, cudaStream_t second)
{
    cudaStream_t in[] = {stream[0], apart ? stream[1] : second};
    for (int i = 0; i < steps; i++) {
        int g = apart ? i % 2 : 0;
        use(g);
        cudaEvent_t event = i % 2 == 0 ? join[0] : apart ? join[1] : other[0];
        nothing<<<1, 32, 0, in[i % 2]>>>();
        CHECK(cudaEventRecord(event, in[i % 2]));
        use(apart ? 1 - g : 0);
        CHECK(cudaStreamWaitEvent(in[1 - i % 2], event, 0));
    }
    use(0);
}

static void waiting()
{
    cudaStream_t second;
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    for (int steps : {2, 10, 40, 200}) {
        row(on_gpu([&] { chain(steps, false, second); }), "wait.two_streams.%d.gpu_us", steps);
        row(on_gpu([&] { chain(steps, true, nullptr); }), "wait.two_gpus.%d.gpu_us", steps);
        row(call([&] { chain(steps, true, nullptr); }), "wait.two_gpus.%d.us", steps);
    }
    for (int n : {1, 10, 100}) {
        row(call([&] {
                for (int i = 0; i < n; i++) {
                    use(i % 2);
                    nothing<<<1, 32, 0, stream[i % 2]>>>();
                }
                use(0);
            }),
            "wait.alternate.%d.us", n);
        row(on_host([&] {
                std::thread thread[2];
                for (int g = 0; g < 2; g++)
                    thread[g] = std::thread([=] {
                        use(g);
                        for (int i = 0; i < n; i++)
                            nothing<<<1, 32, 0, stream[g]>>>();
                        CHECK(cudaStreamSynchronize(stream[g]));
                    });
                for (auto &t : thread)
                    t.join();
            }),
            "wait.two_threads.%d.us", n);
        row(on_host([&] {
                for (int i = 0; i < n; i++) {
                    nothing<<<1, 32, 0, stream[0]>>>();
                    CHECK(cudaStreamSynchronize(stream[0]));
                }
            }),
            "wait.launch_and_wait.%d.us", n);
        row(on_host([&] {
                for (int i = 0; i < n; i++) {
                    touch<<<4096, 256, 0, stream[0]>>>(reinterpret_cast<float *>(buffer[0]),
                                                       1 << 20);
                    CHECK(cudaStreamSynchronize(stream[0]));
                }
            }),
            "wait.touch_and_wait.%d.us", n);
    }
}

static cudaGraphExec_t captured(const std::function<void()> &work)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    work();
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void side_by_side(int n, bool copies)
{
    CHECK(cudaEventRecord(join[0], stream[0]));
    use(1);
    CHECK(cudaStreamWaitEvent(stream[1], join[0], 0));
    for (int g = 0; g < 2; g++) {
        use(g);
        for (int i = 0; i < n; i++)
            if (copies)
                CHECK(cudaMemcpyAsync(buffer[1 - g] + MIB, buffer[g], 4096, cudaMemcpyDefault,
                                      stream[g]));
            else
                nothing<<<1, 32, 0, stream[g]>>>();
    }
    use(1);
    CHECK(cudaEventRecord(join[1], stream[1]));
    use(0);
    CHECK(cudaStreamWaitEvent(stream[0], join[1], 0));
}

static void graphs()
{
    auto launch = [](const char *name, int n, const std::function<void()> &work) {
        cudaGraphExec_t exec = captured(work);
        row(call([&] { CHECK(cudaGraphLaunch(exec, stream[0])); }), "graph.%s.%d.us", name, n);
        row(on_host([&] {
                CHECK(cudaGraphLaunch(exec, stream[0]));
                CHECK(cudaStreamSynchronize(stream[0]));
            }),
            "graph.%s.%d.wait.us", name, n);
        row(on_gpu([&] { CHECK(cudaGraphLaunch(exec, stream[0])); }), "graph.%s.%d.gpu_us", name,
            n);
    };
    for (int n : {1, 5, 20, 80}) {
        launch("kernels", n, [=] {
            for (int i = 0; i < n; i++)
                nothing<<<1, 32, 0, stream[0]>>>();
        });
        launch("two_gpus", n, [=] { side_by_side(n, false); });
        launch("two_copy", n, [=] { side_by_side(n, true); });
        launch("turns", n, [=] { chain(2 * n, true, nullptr); });
    }
}

static void with_host()
{
    std::vector<char> pageable(32 * MIB, 1);
    for (size_t bytes : {512 * KIB, 2 * MIB, 4 * MIB, 16 * MIB, 32 * MIB}) {
        const char *size = size_name(bytes);
        row(on_host([&] {
                CHECK(cudaMemcpy(buffer[0], pageable.data(), bytes, cudaMemcpyHostToDevice));
            }),
            "host.pageable_to.%s.us", size);
        row(on_host([&] {
                CHECK(cudaMemcpy(pageable.data(), buffer[0], bytes, cudaMemcpyDeviceToHost));
            }),
            "host.pageable_from.%s.us", size);
    }
    cudaStream_t second;
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    for (size_t bytes : {MIB, 8 * MIB, 32 * MIB})
        row(on_gpu([&] {
                CHECK(cudaStreamWaitEvent(second, start[0], 0));
                CHECK(cudaMemcpyAsync(buffer[0], host, bytes, cudaMemcpyDefault, stream[0]));
                CHECK(cudaMemcpyAsync(host + 32 * MIB, buffer[0] + 32 * MIB, bytes,
                                      cudaMemcpyDefault, second));
                CHECK(cudaEventRecord(join[0], second));
                CHECK(cudaStreamWaitEvent(stream[0], join[0], 0));
            }),
            "host.both_ways.%s.gpu_us", size_name(bytes));
}

int main()
{
    first_calls();
    allocation();
    queues();
    default_stream();
    waiting();
    graphs();
    with_host();
    return 0;
}

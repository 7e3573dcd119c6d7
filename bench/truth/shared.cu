// SPDX-License-Identifier: MIT
// shared.cu: what several GPUs share, and what the host pays for each of them: copies between host
// memory and every set of GPUs, both directions at once, and the calls of a ring in a queue.
//     truth-shared [GPUS]
#include "rows.h"

#include <string>

static const int MOST_GPUS = 8;
static int gpus = 4;
static cudaStream_t stream[MOST_GPUS], back[MOST_GPUS];
static cudaEvent_t join[MOST_GPUS], start, stop;
static char *block[MOST_GPUS], *other[MOST_GPUS], *host[MOST_GPUS], *host_back[MOST_GPUS];
static const size_t MB = 1000000;

__global__ void nothing() {}

static void use(int gpu)
{
    CHECK(cudaSetDevice(gpu));
}

static void wait_for(cudaStream_t waits, int waiting, cudaStream_t until, int gpu)
{
    use(gpu);
    CHECK(cudaEventRecord(join[gpu], until));
    use(waiting);
    CHECK(cudaStreamWaitEvent(waits, join[gpu], 0));
}

static void wait_all()
{
    for (int g = gpus - 1; g >= 0; g--) {
        use(g);
        CHECK(cudaDeviceSynchronize());
    }
}

// `work` queues on all GPUs' streams, which begin and end together with GPU 0's; in us.
static double together(const std::function<void()> &work)
{
    return median([&] {
        use(0);
        CHECK(cudaEventRecord(start, stream[0]));
        for (int g = 0; g < gpus; g++) {
            if (g > 0)
                wait_for(stream[g], g, stream[0], 0);
            wait_for(back[g], g, stream[0], 0);
        }
        work();
        for (int g = 0; g < gpus; g++) {
            if (g > 0)
                wait_for(stream[0], 0, stream[g], g);
            wait_for(stream[0], 0, back[g], g);
        }
        CHECK(cudaEventRecord(stop, stream[0]));
        CHECK(cudaEventSynchronize(stop));
        float ms;
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        return static_cast<double>(ms) * 1e3;
    });
}

static std::string name_of(unsigned set)
{
    std::string name;
    for (int g = 0; g < gpus; g++)
        if (set & 1u << g)
            name += static_cast<char>('0' + g);
    return name.empty() ? "none" : name;
}

// The GPUs of `from` copy to the host, those of `to` from the host.
static void with_host(unsigned from, unsigned to, size_t bytes)
{
    double us = together([&] {
        for (int g = 0; g < gpus; g++) {
            use(g);
            if (from & 1u << g)
                CHECK(cudaMemcpyAsync(host[g], block[g], bytes, cudaMemcpyDefault, stream[g]));
            if (to & 1u << g)
                CHECK(cudaMemcpyAsync(other[g], host_back[g], bytes, cudaMemcpyDefault, back[g]));
        }
    });
    int copies = __builtin_popcount(from) + __builtin_popcount(to);
    row(static_cast<double>(bytes * copies) / us * 1e-3, "host.from_%s.to_%s.%zuMB.gbs",
        name_of(from).c_str(), name_of(to).c_str(), bytes / MB);
}

static void all_with_host()
{
    const unsigned all = (1u << gpus) - 1;
    for (unsigned set = 1; set <= all; set++) {
        with_host(set, 0, 64 * MB);
        with_host(0, set, 64 * MB);
    }
    for (unsigned set = 1; set <= all; set = 2 * set + 1)
        with_host(set, set, 64 * MB);
    for (unsigned set = 1; set < all; set++)
        with_host(set, all & ~set, 64 * MB);
    for (size_t bytes : {1 * MB, 4 * MB, 16 * MB, 25 * MB}) {
        with_host(all, 0, bytes);
        with_host(0, all, bytes);
        with_host(1, 1, bytes);
    }
}

// ---- calls of a ring ----

// What a call takes the host, of `turns` on each GPU in turn, while nobody waits.
static void call(const char *name, const std::function<void(int gpu)> &one)
{
    const int turns = 24;
    double us = median([&] {
        wait_all();
        double begin = host_us();
        for (int i = 0; i < turns; i++)
            for (int g = 0; g < gpus; g++) {
                use(g);
                one(g);
            }
        double end = host_us();
        wait_all();
        return (end - begin) / turns / gpus;
    });
    row(us, "calls.%s.us", name);
}

static void calls()
{
    for (int g = 0; g < gpus; g++)
        wait_for(stream[g], g, stream[g], g);
    call("none", [](int) {});
    call("launch", [](int g) { nothing<<<1, 32, 0, stream[g]>>>(); });
    call("record", [](int g) { CHECK(cudaEventRecord(join[g], stream[g])); });
    call("wait_own", [](int g) { CHECK(cudaStreamWaitEvent(stream[g], join[g], 0)); });
    call("wait_over",
         [](int g) { CHECK(cudaStreamWaitEvent(stream[g], join[(g + 1) % gpus], 0)); });
    for (size_t bytes : {4 * KIB, 32 * KIB, MIB}) {
        std::string copies = std::string("copy.") + size_name(bytes);
        auto copy = [&](int g) {
            int next = (g + 1) % gpus;
            CHECK(cudaMemcpyAsync(other[next], block[g], bytes, cudaMemcpyDefault, stream[g]));
        };
        call(copies.c_str(), copy);
        call((copies + ".record").c_str(), [&](int g) {
            copy(g);
            CHECK(cudaEventRecord(join[g], stream[g]));
        });
        call((copies + ".record.wait").c_str(), [&](int g) {
            copy(g);
            CHECK(cudaEventRecord(join[g], stream[g]));
            CHECK(cudaStreamWaitEvent(stream[g], join[(g + gpus - 1) % gpus], 0));
        });
        call((copies + ".record.wait.launch").c_str(), [&](int g) {
            copy(g);
            CHECK(cudaEventRecord(join[g], stream[g]));
            CHECK(cudaStreamWaitEvent(stream[g], join[(g + gpus - 1) % gpus], 0));
            nothing<<<1, 32, 0, stream[g]>>>();
        });
    }
}

// Small copies, both ways and around: `us` from the first's begin to the last's end.
static void small_copies()
{
    for (size_t bytes : {16 * KIB, 256 * KIB, MIB, 4 * MIB, 9 * MIB, 32 * MIB}) {
        row(together([&] {
                use(0);
                CHECK(cudaMemcpyAsync(other[1], block[0], bytes, cudaMemcpyDefault, stream[0]));
            }),
            "peer.one_way.%s.us", size_name(bytes));
        row(together([&] {
                use(0);
                CHECK(cudaMemcpyAsync(other[1], block[0], bytes, cudaMemcpyDefault, stream[0]));
                use(1);
                CHECK(cudaMemcpyAsync(other[0], block[1], bytes, cudaMemcpyDefault, stream[1]));
            }),
            "peer.both_ways.%s.us", size_name(bytes));
        row(together([&] {
                for (int g = 0; g < gpus; g++) {
                    use(g);
                    int next = (g + 1) % gpus;
                    CHECK(cudaMemcpyAsync(other[next], block[g], bytes, cudaMemcpyDefault,
                                          stream[g]));
                }
            }),
            "peer.around.%s.us", size_name(bytes));
    }
    row(together([] {}), "peer.none.us");
}

int main(int count, char **words)
{
    gpus = count > 1 ? atoi(words[1]) : 4;
    for (int g = 0; g < gpus; g++) {
        use(g);
        for (int peer = 0; peer < gpus; peer++)
            if (peer != g)
                CHECK(cudaDeviceEnablePeerAccess(peer, 0));
        CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&back[g], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&join[g], cudaEventDisableTiming));
        CHECK(cudaMalloc(&block[g], 64 * MB));
        CHECK(cudaMalloc(&other[g], 64 * MB));
        CHECK(cudaMallocHost(&host[g], 64 * MB));
        CHECK(cudaMallocHost(&host_back[g], 64 * MB));
    }
    use(0);
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    all_with_host();
    calls();
    small_copies();
    return 0;
}

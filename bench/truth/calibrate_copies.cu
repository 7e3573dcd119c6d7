// SPDX-License-Identifier: MIT
// calibrate_copies.cu: copies over each kind of path by size, and what copies at the same time
// share.
#include "calibrate.h"

static const size_t SMALL = 16;

// A copy from one GPU, or the host (-1), to another one.
struct flow {
    int from, to;
};

static int owner(const struct flow &f)
{
    return f.from < 0 ? f.to : f.from;
}

static void copy(const struct flow &f, size_t bytes, cudaStream_t stream)
{
    char *to = f.to < 0 ? gpu[f.from].host_out : gpu[f.to].to;
    const char *from = f.from < 0 ? gpu[f.to].host_in : gpu[f.from].from;
    if (f.from >= 0 && f.to >= 0 && f.from != f.to)
        CHECK(cudaMemcpyPeerAsync(to, f.to, from, f.from, bytes, stream));
    else
        CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

// ---- one after the other ----

static void curve(const char *name, const struct flow &f)
{
    int g = owner(f);
    for (size_t bytes : {SMALL, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 2 * MIB, 4 * MIB,
                         8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, CURVE_BYTES})
        figure(text("copy.%s.%zu.us", name, bytes), [=] {
            return each_us(g,
                           bytes < MIB                     ? 16
                           : bytes <= 16 * MIB && !VIRTUAL ? 8
                                                           : 2,
                           [=] { copy(f, bytes, stream_of(g, 0)); });
        });
}

// One copy on an idle GPU between two events, and what its call takes the host.
static void alone(const char *name, size_t bytes, const std::function<void(cudaStream_t)> &one)
{
    cudaStream_t stream = stream_of(0, 0);
    double call = 0;
    figure(text("alone.%s.%zu.us", name, bytes), [&] {
        return typical([&] {
            float ms;
            CHECK(cudaStreamSynchronize(stream));
            CHECK(cudaEventRecord(gpu[0].began, stream));
            call = host_time([&] { one(stream); });
            CHECK(cudaEventRecord(gpu[0].ended, stream));
            CHECK(cudaEventSynchronize(gpu[0].ended));
            CHECK(cudaEventElapsedTime(&ms, gpu[0].began, gpu[0].ended));
            return static_cast<double>(ms) * 1e3;
        });
    });
    figure(text("alone_call.%s.%zu.us", name, bytes), [&] {
        return typical([&] {
            CHECK(cudaStreamSynchronize(stream));
            return host_time([&] { one(stream); });
        });
    });
}

static void alone_pinned()
{
    for (size_t bytes : {SMALL, 64 * KIB, 4 * MIB}) {
        alone("h2d_pinned", bytes, [=](cudaStream_t s) { copy({-1, 0}, bytes, s); });
        alone("d2h_pinned", bytes, [=](cudaStream_t s) { copy({0, -1}, bytes, s); });
        alone("local", bytes, [=](cudaStream_t s) { copy({0, 0}, bytes, s); });
    }
}

static void alone_between_gpus(const char *name)
{
    for (size_t bytes : {SMALL, 64 * KIB, 4 * MIB})
        alone(name, bytes, [=](cudaStream_t s) { copy({0, 1}, bytes, s); });
}

static void pageable()
{
    std::vector<char> memory(CURVE_BYTES, 1);
    for (size_t bytes : {SMALL, KIB, 4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, MIB,
                         4 * MIB, 16 * MIB, 64 * MIB, CURVE_BYTES}) {
        alone("h2d_pageable", bytes, [&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(gpu[0].to, memory.data(), bytes, cudaMemcpyHostToDevice, s));
        });
        alone("d2h_pageable", bytes, [&](cudaStream_t s) {
            CHECK(cudaMemcpyAsync(memory.data(), gpu[0].from, bytes, cudaMemcpyDeviceToHost, s));
        });
    }
}

static void default_stream()
{
    for (int way = 0; way < 2; way++)
        figure(way ? "call.peer.default.us" : "call.peer.us", [=] {
            cudaStream_t stream = way ? nullptr : stream_of(0, 0);
            return typical([=] {
                wait_all();
                return host_time([=] { copy({0, 1}, SMALL, stream); });
            });
        });
    for (int way = 0; way < 2; way++)
        figure(way ? "call.peer_and_wait.default.us" : "call.peer_and_wait.us", [=] {
            cudaStream_t stream = way ? nullptr : stream_of(0, 0);
            return typical([=] {
                wait_all();
                return host_time([=] {
                    copy({0, 1}, SMALL, stream);
                    CHECK(cudaStreamSynchronize(stream));
                });
            });
        });
}

// What each of small copies between GPUs, one right after the other, takes the host.
static void copies_in_a_row(const char *name)
{
    cudaStream_t stream = stream_of(0, 0);
    figure(name, [=] {
        return typical([=] {
            const int COPIES = 20;
            wait_all();
            double us = host_time([=] {
                for (int i = 0; i < COPIES; i++)
                    copy({0, 1}, SMALL, stream);
            });
            wait_all();
            return us / COPIES;
        });
    });
}

// Finds the first pair of GPUs that access each other directly. False: no pair does.
static bool find_pair(int *i, int *j)
{
    for (*i = 0; *i < gpus; ++*i)
        for (*j = 0; *j < gpus; ++*j)
            if (*i != *j && gpu[*i].reaches[*j] && gpu[*j].reaches[*i])
                return true;
    return false;
}

// ---- at the same time ----

// Microseconds until all flows have moved so many copies each; they begin together.
static double together_us(const std::vector<struct flow> &flows, size_t bytes, int copies)
{
    int lead = owner(flows[0]);
    std::vector<size_t> used(MOST_GPUS, 0);
    return queued_us(lead, [&] {
        std::vector<cudaStream_t> streams;
        used[static_cast<size_t>(lead)] = 1;
        for (const struct flow &f : flows) {
            streams.push_back(stream_of(owner(f), used[static_cast<size_t>(owner(f))]++));
            CHECK(cudaStreamWaitEvent(streams.back(), gpu[lead].began, 0));
        }
        for (int k = 0; k < copies; k++)
            for (size_t n = 0; n < flows.size(); n++) {
                use(owner(flows[n]));
                copy(flows[n], bytes, streams[n]);
            }
        for (size_t n = 0; n < flows.size(); n++) {
            use(owner(flows[n]));
            CHECK(cudaEventRecord(gpu[owner(flows[n])].joined, streams[n]));
            CHECK(cudaStreamWaitEvent(stream_of(lead, 0), gpu[owner(flows[n])].joined, 0));
        }
    });
}

// GB/s of all flows together, without what begins and ends them.
static void shared(const std::string &name, const std::vector<struct flow> &flows)
{
    figure(name, [&] {
        auto time_of = [&](int n) {
            return typical([&] { return together_us(flows, RATE_BYTES, n); });
        };
        double first = time_of(1), us = time_of(3) - first;
        return 2 * static_cast<double>(RATE_BYTES * flows.size()) / us * 1e-3;
    });
}

void measure_staged()
{
    if (gpus < 2)
        return;
    progress("copies between GPUs through the host");
    curve("staged", {0, 1});
    alone_between_gpus("staged");
    copies_in_a_row("call.staged.us");
    for (int i = 0; i < std::min(gpus, 4); i++) // they differ from pair to pair
        for (int j = 0; j < std::min(gpus, 4); j++)
            if (i != j)
                figure(text("staged.small[%d,%d].us", i, j), [=] {
                    return each_us(i, 16, [=] { copy({i, j}, SMALL, stream_of(i, 0)); });
                });
    shared("staged.both_ways.gbs", {{0, 1}, {1, 0}});
}

void measure_curves()
{
    int i, j;
    progress("copies by size");
    curve("h2d_pinned", {-1, 0});
    curve("d2h_pinned", {0, -1});
    curve("local", {0, 0});
    if (find_pair(&i, &j))
        curve("peer", {i, j});
    alone_pinned();
    progress("copies of pageable memory");
    pageable();
    if (gpus > 1 && gpu[0].reaches[1]) {
        default_stream();
        alone_between_gpus("peer");
        copies_in_a_row("call.peer_row.us");
    }
}

static std::vector<struct flow> with_host(int most, bool up, bool down)
{
    std::vector<struct flow> flows;
    for (int g = 0; g < most; g++) {
        if (up)
            flows.push_back({g, -1});
        if (down)
            flows.push_back({-1, g});
    }
    return flows;
}

void measure_host_links()
{
    progress("links to the host, of each GPU and of pairs");
    for (int i = 0; i < gpus; i++) {
        shared(text("host.up[%d].gbs", i), {{i, -1}});
        shared(text("host.down[%d].gbs", i), {{-1, i}});
        shared(text("host.both[%d].gbs", i), {{i, -1}, {-1, i}});
        for (int j = 0; j < i; j++) {
            shared(text("host.up[%d,%d].gbs", j, i), {{j, -1}, {i, -1}});
            shared(text("host.down[%d,%d].gbs", j, i), {{-1, j}, {-1, i}});
        }
    }
    shared("host.up_twice.gbs", {{0, -1}, {0, -1}});
    shared("host.down_twice.gbs", {{-1, 0}, {-1, 0}});
    for (int n = 3; n <= gpus; n++) {
        shared(text("host.up_first[%d].gbs", n), with_host(n, true, false));
        shared(text("host.down_first[%d].gbs", n), with_host(n, false, true));
    }
    for (int n = 2; n <= gpus; n++)
        shared(text("host.both_first[%d].gbs", n), with_host(n, true, true));
}

// The second of two copies of a kind ends when the first does, or as much later as it takes.
static void at_once()
{
    figure("copies.first_of_two", [] {
        double one = typical([] { return together_us({{-1, 0}}, RATE_BYTES, 1); });
        return typical([] {
                   cudaStream_t a = stream_of(0, 1), b = stream_of(0, 2);
                   return queued_us(0, [=] {
                       CHECK(cudaStreamWaitEvent(a, gpu[0].began, 0));
                       CHECK(cudaStreamWaitEvent(b, gpu[0].began, 0));
                       copy({-1, 0}, RATE_BYTES, a);
                       CHECK(cudaEventRecord(gpu[0].joined, a));
                       copy({-1, 0}, RATE_BYTES, b);
                       CHECK(cudaStreamWaitEvent(stream_of(0, 0), gpu[0].joined, 0));
                   });
               }) /
               one;
    });
}

void measure_peer_links()
{
    at_once();
    if (gpus < 2)
        return;
    progress("links between GPUs");
    for (int i = 0; i < gpus; i++)
        for (int j = 0; j < gpus; j++) {
            if (i == j)
                continue;
            shared(text("pair.one_way[%d,%d].gbs", i, j), {{i, j}});
            if (i < j)
                shared(text("pair.both_ways[%d,%d].gbs", i, j), {{i, j}, {j, i}});
        }
    progress("several links between GPUs at the same time");
    shared("peers.same_way.gbs", {{0, 1}, {0, 1}});
    std::vector<struct flow> around;
    for (int i = 0; i < gpus; i++)
        around.push_back({i, (i + 1) % gpus});
    shared("peers.around.gbs", around);
    for (int i = 0; gpus > 2 && i < gpus; i++) {
        int next = (i + 1) % gpus, second = (i + 2) % gpus;
        shared(text("peers.out[%d].gbs", i), {{i, next}, {i, second}});
        shared(text("peers.in[%d].gbs", i), {{next, i}, {second, i}});
    }
    for (int i = 0; i + 1 < gpus && gpus > 3; i++) // do two neighbours share their way to others?
        shared(text("peers.beside[%d].gbs", i),
               {{i, (i + 2) % gpus}, {(i + 1) % gpus, (i + 3) % gpus}});
}

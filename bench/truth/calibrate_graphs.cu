// SPDX-License-Identifier: MIT
// calibrate_graphs.cu: what launching a graph costs the host, and how long its nodes take.
#include "calibrate.h"

static cudaGraphExec_t captured(const std::function<void()> &work)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    use(0);
    CHECK(cudaStreamBeginCapture(stream_of(0, 0), cudaStreamCaptureModeGlobal));
    work();
    CHECK(cudaStreamEndCapture(stream_of(0, 0), &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    return exec;
}

// Launches of the graph of `work`: what the call takes, and what the GPU does, in each of several
// launches or in a single one.
static void graph_figures(const char *name, const std::function<void()> &work, int launches = 8)
{
    cudaGraphExec_t exec = captured(work);
    cudaStream_t stream = stream_of(0, 0);
    auto start = [=] { CHECK(cudaGraphLaunch(exec, stream)); };
    figure(text("graph.%s.call.us", name), [&] {
        return typical([&] {
            wait_all();
            use(0);
            double us = host_time(start);
            wait_all();
            return us;
        });
    });
    figure(text("graph.%s.us", name), [&] {
        const double HOLD_US = VIRTUAL ? 800 : 3000; // longer than the call
        return launches > 1 ? each_us(0, launches, start)
                            : typical([=] { return queued_us(0, start, HOLD_US); });
    });
    CHECK(cudaGraphExecDestroy(exec));
}

// ---- rings of copies ----

// In a step, each lane of a GPU copies `bytes` to the next GPU, which adds them or only goes on.
struct ring {
    int gpus, lanes, steps;
    size_t bytes;
    bool adds;
};

static __global__ void add(float *sum, const float *more, size_t count)
{
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < count)
        sum[i] += more[i];
}

// Each step has its own part of the GPU's memory, so that no copy is in the way of another.
static void ring_step(const struct ring &r, int step, const std::vector<cudaEvent_t> &sent)
{
    for (int k = 0; k < r.gpus * r.lanes; k++) {
        int g = k / r.lanes, lane = k % r.lanes, next = (g + 1) % r.gpus;
        size_t at = CURVE_BYTES / 2 * static_cast<size_t>(lane);
        cudaStream_t stream = stream_of(g, static_cast<size_t>(lane));
        CHECK(cudaMemcpyAsync(gpu[next].to + at + static_cast<size_t>(step) * r.bytes,
                              gpu[g].from + at, r.bytes, cudaMemcpyDefault, stream));
        CHECK(cudaEventRecord(sent[static_cast<size_t>(k)], stream));
    }
    for (int k = 0; k < r.gpus * r.lanes; k++) {
        int g = k / r.lanes, lane = k % r.lanes, next = (g + 1) % r.gpus;
        size_t at = CURVE_BYTES / 2 * static_cast<size_t>(lane), count = r.bytes / sizeof(float);
        cudaStream_t stream = stream_of(next, static_cast<size_t>(lane));
        CHECK(cudaStreamWaitEvent(stream, sent[static_cast<size_t>(k)], 0));
        if (r.adds)
            add<<<static_cast<unsigned>(count / 256), 256, 0, stream>>>(
                reinterpret_cast<float *>(gpu[next].from + at),
                reinterpret_cast<float *>(gpu[next].to + at + static_cast<size_t>(step) * r.bytes),
                count);
    }
}

// One event for each lane of each GPU.
static std::vector<cudaEvent_t> lane_events(const struct ring &r)
{
    std::vector<cudaEvent_t> events;
    for (int k = 0; k < r.gpus * r.lanes; k++) {
        use(k / r.lanes);
        events.emplace_back();
        CHECK(cudaEventCreateWithFlags(&events.back(), cudaEventDisableTiming));
    }
    return events;
}

// All lanes begin behind the first one, and end in it.
static void queue_ring(const struct ring &r, const std::vector<cudaEvent_t> &sent)
{
    CHECK(cudaEventRecord(gpu[0].joined, stream_of(0, 0)));
    for (int k = 1; k < r.gpus * r.lanes; k++)
        CHECK(cudaStreamWaitEvent(stream_of(k / r.lanes, static_cast<size_t>(k % r.lanes)),
                                  gpu[0].joined, 0));
    for (int k = 0; k < r.gpus && r.steps == 0; k++)
        launch(k, 0);
    for (int step = 0; step < r.steps; step++)
        ring_step(r, step, sent);
    for (int k = 1; k < r.gpus * r.lanes; k++) {
        CHECK(cudaEventRecord(sent[static_cast<size_t>(k)],
                              stream_of(k / r.lanes, static_cast<size_t>(k % r.lanes))));
        CHECK(cudaStreamWaitEvent(stream_of(0, 0), sent[static_cast<size_t>(k)], 0));
    }
    use(0);
}

static void ring_figures(const char *name, const struct ring &r)
{
    std::vector<cudaEvent_t> sent = lane_events(r);
    std::string numbers = text("%s[%d,%d]", name, r.gpus, r.steps);
    graph_figures(
        numbers.c_str(), [&] { queue_ring(r, sent); }, 1);
    for (cudaEvent_t event : sent)
        CHECK(cudaEventDestroy(event));
}

static bool is_ring(int count)
{
    for (int g = 0; g < count; g++)
        if (!gpu[g].reaches[(g + 1) % count])
            return false;
    return count > 1;
}

static void rings()
{
    for (int count : {2, gpus}) {
        if (!is_ring(count))
            continue;
        for (int steps : {3, 9}) {
            ring_figures("pass", {count, 1, steps, 64 * KIB, false});
            ring_figures("ring", {count, 1, steps, 64 * KIB, true});
            ring_figures("lanes", {count, 2, steps, 64 * KIB, true});
            ring_figures("large_pass", {count, 1, steps, 4 * MIB, false});
            ring_figures("large_ring", {count, 1, steps, 4 * MIB, true});
        }
        ring_figures("fork", {count, 1, 0, 0, false});
        if (gpus == 2)
            break;
    }
}

// ---- turns ----

static void take_turns(int other, int turns)
{
    for (int i = 0; i < turns; i++)
        for (int at : {0, other}) {
            int then = at ? 0 : other;
            launch(at, 0);
            CHECK(cudaEventRecord(gpu[at].joined, stream_of(at, 0)));
            CHECK(cudaStreamWaitEvent(stream_of(then, 0), gpu[at].joined, 0));
        }
    use(0);
}

void measure_graphs()
{
    progress("graphs");
    for (int n : {1, 21})
        graph_figures(text("kernels_%d", n).c_str(), [=] {
            for (int i = 0; i < n; i++)
                launch(0, 0);
        });
    graph_figures("between_copies_10", [] {
        for (int i = 0; i < 10; i++) {
            launch(0, 0);
            CHECK(cudaMemcpyAsync(gpu[0].to, gpu[0].from, 16, cudaMemcpyDeviceToDevice,
                                  stream_of(0, 0)));
        }
    });
    graph_figures("between_transfers_10", [] {
        for (int i = 0; i < 10; i++)
            launch_and_transfer();
    });
    for (int turns : {1, 11})
        if (gpus > 1)
            graph_figures(text("turns_%d", turns).c_str(), [=] { take_turns(1, turns); });
    if (gpus > 1 && gpu[0].reaches[1]) // without a wait
        for (int copies : {3, 9})
            graph_figures(text("peer_copies_%d", copies).c_str(), [=] {
                for (int i = 0; i < copies; i++)
                    CHECK(cudaMemcpyAsync(gpu[1].to, gpu[0].from, 64 * KIB, cudaMemcpyDefault,
                                          stream_of(0, 0)));
            });
    rings();
    if (gpus > 1 && gpu[0].reaches[1] && gpu[1].reaches[0]) {
        figure("kernel.push.gbs", [] { return copied(0, 1, 0, 1); });
        figure("kernel.pull.gbs", [] { return copied(0, 0, 1, 1); });
    }
}

// SPDX-License-Identifier: MIT
// calibrate_calls.cu: what calls cost the host, and kernels that do nothing or only move bytes.
#include "calibrate.h"

static __global__ void nothing() {}

void launch(int g, size_t number)
{
    cudaStream_t stream = stream_of(g, number);
    nothing<<<1, 32, 0, stream>>>();
}

// ---- calls ----

// What one of `count` calls in a row takes the host.
static void call(const char *name, int count, const std::function<void()> &one)
{
    figure(text("call.%s.us", name), [&] {
        return typical([&] {
            wait_all();
            use(0);
            double us = host_time([&] {
                for (int i = 0; i < count; i++)
                    one();
            });
            wait_all();
            return us / count;
        });
    });
}

static void calls_of_streams()
{
    cudaStream_t stream = stream_of(0, 0), quiet = stream_of(0, 1);
    int turn = 0;
    call("set_device", 1000, [&] { CHECK(cudaSetDevice(turn++ % gpus)); });
    call("launch", 200, [&] { nothing<<<1, 32, 0, stream>>>(); });
    call("record", 200, [&] { CHECK(cudaEventRecord(gpu[0].began, stream)); });
    call("record_untimed", 200, [&] { CHECK(cudaEventRecord(gpu[0].joined, stream)); });
    call("wait", 200, [&] { CHECK(cudaStreamWaitEvent(stream, gpu[0].joined, 0)); });
    call("set", 200, [&] { CHECK(cudaMemsetAsync(gpu[0].to, 0, 16, stream)); });
    call("query", 200, [&] { (void)cudaStreamQuery(stream); });
    call("sync", 200, [&] { CHECK(cudaStreamSynchronize(quiet)); }); // nothing to do
    call("to_device", 50, [&] {
        CHECK(cudaMemcpyAsync(gpu[0].to, gpu[0].host_in, 16, cudaMemcpyHostToDevice, stream));
    });
    call("to_host", 50, [&] {
        CHECK(cudaMemcpyAsync(gpu[0].host_out, gpu[0].from, 16, cudaMemcpyDeviceToHost, stream));
    });
    call("inside", 50, [&] {
        CHECK(cudaMemcpyAsync(gpu[0].to, gpu[0].from, 16, cudaMemcpyDeviceToDevice, stream));
    });
}

// A wait for an event that has not happened: of another stream, and of another GPU.
static void waits(const char *name, int other)
{
    cudaStream_t stream = stream_of(0, 0), ahead = stream_of(other, 1);
    figure(text("call.%s.us", name), [=] {
        return typical([=] {
            const int WAITS = 100;
            hold(other, ahead, 800);
            CHECK(cudaEventRecord(gpu[other].other, ahead));
            use(0);
            double us = host_time([=] {
                for (int i = 0; i < WAITS; i++)
                    CHECK(cudaStreamWaitEvent(stream, gpu[other].other, 0));
            });
            wait_all();
            return us / WAITS;
        });
    });
}

// Kernels of two GPUs that wait for each other: one launch, one event and one wait of each.
static void call_turns(int other)
{
    cudaStream_t stream[2] = {stream_of(0, 0), stream_of(other, 0)};
    cudaEvent_t event[2] = {gpu[0].joined, gpu[other].joined};
    int turn = 0;
    call("turn", 80, [&] {
        int at = turn++ % 2;
        CHECK(cudaSetDevice(at ? other : 0));
        nothing<<<1, 32, 0, stream[at]>>>();
        CHECK(cudaEventRecord(event[at], stream[at]));
        CHECK(cudaStreamWaitEvent(stream[1 - at], event[at], 0));
    });
}

// Events that other processes can open.
static void calls_on_shared_events()
{
    cudaStream_t stream = stream_of(0, 0);
    cudaEvent_t shared;
    const unsigned flags = cudaEventInterprocess | cudaEventDisableTiming;
    if (cudaEventCreateWithFlags(&shared, flags) != cudaSuccess) { // not on every system
        (void)cudaGetLastError();
        return;
    }
    call("record_shared", 40, [&] { CHECK(cudaEventRecord(shared, stream)); });
    call("wait_shared", 40, [&] { CHECK(cudaStreamWaitEvent(stream, shared, 0)); });
    CHECK(cudaEventDestroy(shared));
}

static void calls_in_turn()
{
    waits("wait_stream", 0);
    if (gpus > 1) {
        waits("wait_gpu", 1);
        call_turns(1);
    }
}

// What a function on the host takes from its issue to the end of the wait for it.
static void CUDART_CB do_nothing(void *) {}

static void calls_that_wait()
{
    cudaStream_t stream = stream_of(0, 0);
    call("spin_20_and_wait", 1, [&] {
        hold(0, stream, 20);
        CHECK(cudaStreamSynchronize(stream));
    });
    call("host_function_and_wait", 1, [&] {
        CHECK(cudaLaunchHostFunc(stream, do_nothing, nullptr));
        CHECK(cudaStreamSynchronize(stream));
    });
}

static void calls_of_memory()
{
    void *p = nullptr;
    auto timed = [&](const char *name, const std::function<double()> &both) {
        figure(text("call.%s.us", name), [&] { return typical(both); });
    };
    use(0);
    timed("malloc", [&] {
        double us = host_time([&] { CHECK(cudaMalloc(&p, 64 * MIB)); });
        CHECK(cudaFree(p));
        return us;
    });
    timed("free", [&] {
        CHECK(cudaMalloc(&p, 64 * MIB));
        return host_time([&] { CHECK(cudaFree(p)); });
    });
    timed("malloc_from_empty_pool", [&] {
        cudaStream_t stream = stream_of(0, 0);
        CHECK(cudaDeviceSynchronize());
        double us = host_time([&] { CHECK(cudaMallocAsync(&p, 64 * MIB, stream)); });
        CHECK(cudaFreeAsync(p, stream));
        CHECK(cudaDeviceSynchronize()); // the pool gives its memory back
        return us;
    });
}

// A host that was idle is slower at first.
static void warm_up()
{
    auto begin = std::chrono::steady_clock::now();
    do {
        for (int i = 0; i < 200; i++)
            launch(0, 0);
        wait_all();
    } while (!VIRTUAL && std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(300));
}

void measure_calls()
{
    progress("calls");
    warm_up();
    calls_of_streams();
    calls_in_turn();
    calls_on_shared_events();
    calls_of_memory();
    calls_that_wait();
}

// ---- kernels ----

static __global__ void add_up(const float4 *from, size_t n, int times, float *to)
{
    float sum = 0;
    for (unsigned k = 0; k < static_cast<unsigned>(times); k++) {
        size_t part = (blockIdx.x + k * 37) % gridDim.x; // another processor's, which L1 has not
        for (size_t i = part * blockDim.x + threadIdx.x; i < n;
             i += gridDim.x * static_cast<size_t>(blockDim.x)) {
            float4 v = from[i];
            sum += v.x + v.y + v.z + v.w;
        }
    }
    if (sum == 12345.678f)
        *to = sum;
}

static __global__ void copy_over(float4 *to, const float4 *from, size_t n)
{
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    for (; i < n; i += gridDim.x * static_cast<size_t>(blockDim.x))
        to[i] = from[i];
}

static __global__ void follow(const int *next, int steps, int *end)
{
    int at = 0;
    for (int i = 0; i < steps; i++)
        at = next[at];
    *end = at;
}

// A copy engine waits for the kernel, and the other way round. Copies inside a GPU need no engine,
// and 16 bytes from the host travel with the command.
void launch_and_transfer()
{
    launch(0, 0);
    CHECK(cudaMemcpyAsync(gpu[0].host_out, gpu[0].from, 64 * KIB, cudaMemcpyDeviceToHost,
                          stream_of(0, 0)));
}

// One kernel between two events of a stream that has nothing to do.
static double alone_us()
{
    cudaStream_t stream = stream_of(0, 0);
    return typical([=] {
        float ms;
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaEventRecord(gpu[0].began, stream));
        nothing<<<1, 32, 0, stream>>>();
        CHECK(cudaEventRecord(gpu[0].ended, stream));
        CHECK(cudaEventSynchronize(gpu[0].ended));
        CHECK(cudaEventElapsedTime(&ms, gpu[0].began, gpu[0].ended));
        return static_cast<double>(ms) * 1e3;
    });
}

// Up to some size, what comes from the host travels with the command.
static void after_small_transfers()
{
    for (size_t bytes : {64, 256, 1024, 4096, 16384})
        figure(text("kernel.after_transfer.%zu.us", bytes), [=] {
            return each_us(0, 20, [=] {
                launch(0, 0);
                CHECK(cudaMemcpyAsync(gpu[0].to, gpu[0].host_in, bytes, cudaMemcpyHostToDevice,
                                      stream_of(0, 0)));
            });
        });
}

static void spinning()
{
    figure("kernel.nothing.us", [] { return each_us(0, 40, [] { launch(0, 0); }); });
    figure("kernel.timed_event.us", [] {
        return each_us(0, 20, [] { CHECK(cudaEventRecord(gpu[0].ended, stream_of(0, 0))); });
    });
    figure("kernel.alone.us", alone_us);
    for (int us : {20, 40}) {
        figure(text("kernel.spin_%d.cycles", us), [=] { return held_cycles(0, us); });
        figure(text("kernel.spin_%d.us", us),
               [=] { return each_us(0, 10, [=] { hold(0, stream_of(0, 0), us); }); });
    }
    figure("kernel.turns.two_streams.us", [] {
        return each_us(0, 20, [] {
            for (size_t s = 0; s < 2; s++) {
                launch(0, s);
                CHECK(cudaEventRecord(gpu[0].joined, stream_of(0, s)));
                CHECK(cudaStreamWaitEvent(stream_of(0, 1 - s), gpu[0].joined, 0));
            }
        });
    });
    figure("kernel.between_copies.us", [] {
        return each_us(0, 20, [] {
            launch(0, 0);
            CHECK(cudaMemcpyAsync(gpu[0].to, gpu[0].from, 16, cudaMemcpyDeviceToDevice,
                                  stream_of(0, 0)));
        });
    });
    figure("kernel.between_transfers.us", [] { return each_us(0, 20, launch_and_transfer); });
    after_small_transfers();
    for (int g = 1; g < std::min(gpus, 2); g++)
        figure("kernel.turns.two_gpus.us", [=] {
            return each_us(0, 20, [=] {
                for (int at : {0, g}) {
                    launch(at, 0);
                    CHECK(cudaEventRecord(gpu[at].joined, stream_of(at, 0)));
                    int then = at ? 0 : g;
                    CHECK(cudaStreamWaitEvent(stream_of(then, 0), gpu[at].joined, 0));
                }
            });
        });
}

// GB/s of GPU g's processors on memory of GPUs `to` and `from`.
double copied(int g, int to, int from, double times)
{
    double us = each_us(g, 2, [=] {
        cudaStream_t stream = stream_of(g, 0);
        copy_over<<<static_cast<unsigned>(gpu[g].processors) * 4, 512, 0, stream>>>(
            reinterpret_cast<float4 *>(gpu[to].to), reinterpret_cast<float4 *>(gpu[from].from),
            CURVE_BYTES / sizeof(float4));
    });
    return times * static_cast<double>(CURVE_BYTES) / us * 1e-3;
}

static double added(int g, size_t bytes, int times)
{
    return each_us(g, 2, [=] {
        cudaStream_t stream = stream_of(g, 0);
        add_up<<<static_cast<unsigned>(gpu[g].processors) * 4, 512, 0, stream>>>(
            reinterpret_cast<float4 *>(gpu[g].from), bytes / sizeof(float4), times,
            reinterpret_cast<float *>(gpu[g].to));
    });
}

// What a quarter of L2 holds is read again from there; its array is of this size, as the virtual
// node looks at it.
static double from_l2()
{
    const int TIMES = 16;
    size_t bytes = gpu[0].l2_bytes / 4 / MIB * MIB;
    char *kept = gpu[0].from;
    CHECK(cudaMalloc(&gpu[0].from, bytes));
    double us = added(0, bytes, 1 + TIMES) - added(0, bytes, 1);
    CHECK(cudaFree(gpu[0].from));
    gpu[0].from = kept;
    return static_cast<double>(bytes) * TIMES / us * 1e-3;
}

// ns of a load that waits for the one before, from an array of this size.
static double load_ns(size_t bytes, int steps)
{
    size_t lines = bytes / 128, stride = lines / 7 * 3 | 1;
    std::vector<int> next(lines * 32);
    int *array;
    while (lines % stride == 0)
        stride += 2;
    for (size_t i = 0, at = 0; i < lines; i++, at = (at + stride) % lines)
        next[at * 32] = static_cast<int>((at + stride) % lines * 32);
    use(0);
    CHECK(cudaMalloc(&array, bytes));
    CHECK(cudaMemcpy(array, next.data(), bytes, cudaMemcpyHostToDevice));
    double us = typical([=] {
        return queued_us(0, [=] {
            follow<<<1, 1, 0, stream_of(0, 0)>>>(array, steps, reinterpret_cast<int *>(gpu[0].to));
        });
    });
    CHECK(cudaFree(array));
    return us * 1e3 / steps;
}

void measure_kernels()
{
    progress("kernels");
    spinning();
    for (int g = 0; g < gpus; g++)
        figure(text("memory.read[%d].gbs", g),
               [=] { return static_cast<double>(CURVE_BYTES) / added(g, CURVE_BYTES, 1) * 1e-3; });
    figure("memory.copied.gbs", [] { return copied(0, 0, 0, 2); });
    if (gpu[0].l2_bytes >= 4 * MIB) {
        figure("memory.l2.gbs", from_l2);
        // so many steps that what they touch is more than L2 holds, or far less
        int sectors = static_cast<int>(gpu[0].l2_bytes / 32);
        figure("load.l2.ns",
               [=] { return load_ns(gpu[0].l2_bytes / 8 / MIB * MIB + MIB, sectors / 16); });
        figure("load.memory.ns", [=] { return load_ns(gpu[0].l2_bytes * 4, sectors); });
    }
}

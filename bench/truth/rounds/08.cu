// SPDX-License-Identifier: MIT
// 08.cu: round 7's kinds of timings at other sizes, for a description that ./lab calibrate had
// fitted to another machine with four H200. rounds.py predicts and measures.
#define main main_of_round_07
#include "07.cu"
#undef main

static void copies()
{
    for (size_t bytes : {5 * KB, 400 * KB, 11 * MB, 75 * MB})
        row(on_gpu([=] { copy(block[3], block[0], bytes, 0); }), "peer.%zuKB.us", bytes / KB);
    for (size_t bytes : {30 * KB, 2 * MB, 60 * MB})
        row(on_gpu([=] { copy(host, block[0], bytes, 0); }), "host.from.%zuKB.us", bytes / KB);
    for (size_t bytes : {9 * KB, 1800 * KB, 45 * MB})
        row(on_gpu([=] { copy(block[0], host, bytes, 0); }), "host.to.%zuKB.us", bytes / KB);
    for (size_t bytes : {9 * KB, 2 * MB, 100 * MB})
        row(on_gpu([=] { copy(other[0], block[0], bytes, 0); }), "inside.%zuKB.us", bytes / KB);
    row(on_gpu([] {
            for (int i = 0; i < 16; i++) {
                launch();
                copy(other[0], block[0], 20 * KB, 0);
            }
        }),
        "kernel_and_inside.16x20KB.us");
    row(on_gpu([] {
            for (int i = 0; i < 14; i++) {
                launch();
                copy(host, block[0], 50 * KB, 0);
            }
        }),
        "kernel_and_from.14x50KB.us");
    row(on_gpu([] {
            for (int i = 0; i < 6; i++)
                copy(block[2] + i * 4 * MB, block[0] + i * 4 * MB, 3 * MB, 0);
        }),
        "peer.6x3MB.us");
}

static void copies_at_once()
{
    row(gbs(80 * MB, together([] {
                for (int g = 0; g < GPUS; g++)
                    copy(host + g * 20 * MB, block[g], 20 * MB, g);
            })),
        "host.from_four.20MB.gbs");
    row(gbs(90 * MB, together([] {
                for (int g = 0; g < 3; g++)
                    copy(block[g], host + g * 30 * MB, 30 * MB, g);
            })),
        "host.to_three.30MB.gbs");
    row(gbs(66 * MB, together([] {
                copy(other[0], block[1], 33 * MB, 1);
                copy(other[1], block[0], 33 * MB, 0);
            })),
        "peer.both_ways.33MB.gbs");
    row(gbs(40 * MB, together([] {
                copy(block[2], block[0], 20 * MB, 0);
                copy(block[2] + 40 * MB, block[1], 20 * MB, 1);
            })),
        "peer.from_two.20MB.gbs");
}

static void kernels_and_pools()
{
    auto *x = reinterpret_cast<float *>(block[0]), *y = reinterpret_cast<float *>(other[0]);
    CHECK(cudaSetDevice(0));
    for (int n : {300000, 6000000, 25000000})
        row(on_gpu([=] {
                scale<<<static_cast<unsigned>((n + 127) / 128), 128, 0, stream[0]>>>(y, x, n);
            }),
            "kernel.scale.%d.us", n);
    row(on_gpu([=] {
            auto *far = reinterpret_cast<float *>(block[1]);
            scale<<<39063, 256, 0, stream[0]>>>(far, x, 10000000);
        }),
        "peer.scale.40MB.us");
    void *p;
    row(on_host([&] {
            CHECK(cudaMallocAsync(&p, 20 * MB, stream[0]));
            CHECK(cudaFreeAsync(p, stream[0]));
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.pool.20MB.us");
    row(on_host([] {
            for (int i = 0; i < 40; i++)
                launch();
            CHECK(cudaStreamSynchronize(stream[0]));
        }),
        "call.launches.40.us");
}

int main()
{
    set_up();
    for (int g = 0; g < GPUS; g++) {
        block[g] = on<char>(g, 120 * MB);
        other[g] = on<char>(g, 120 * MB);
    }
    CHECK(cudaMallocHost(&host, 120 * MB));
    copies();
    copies_at_once();
    kernels_and_pools();
    return 0;
}

/* SPDX-License-Identifier: MIT
 * leaks.cu: cases of leaks.*: what a program has not given back when it ends.
 */
#include "cases.h"

#include <pthread.h>

#define BYTES 4096

static void *kept;

/* ---- leaks.memory ---- */

static void bad_memory(void)
{
    MUST(cudaMalloc(&kept, BYTES)); // @bad_memory
}

static void bad_memory_large(void)
{
    MUST(cudaMalloc(&kept, 8 << 20)); // @bad_memory_large
}

static void bad_memory_pitch(void)
{
    size_t pitch;
    MUST(cudaMallocPitch(&kept, &pitch, 100, 10)); // @bad_memory_pitch
}

static void bad_memory_pool(void)
{
    MUST(cudaMallocAsync(&kept, BYTES, 0)); // @bad_memory_pool
    MUST(cudaStreamSynchronize(0));
}

static void bad_memory_one_of_two(void)
{
    void *other;
    MUST(cudaMalloc(&other, BYTES));
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&kept, BYTES)); // @bad_memory_one_of_two
    MUST(cudaFree(other));
}

static void near_memory(void)
{
    MUST(cudaMalloc(&kept, BYTES));
    MUST(cudaFree(kept));
}

static void near_memory_pool(void)
{
    MUST(cudaMallocAsync(&kept, BYTES, 0));
    MUST(cudaFreeAsync(kept, 0));
    MUST(cudaStreamSynchronize(0));
}

static void near_memory_reset(void)
{
    MUST(cudaMalloc(&kept, BYTES));
    MUST(cudaDeviceReset());
}

static void *free_it(void *unused)
{
    (void)unused;
    MUST(cudaFree(kept));
    return NULL;
}

static void near_memory_other_thread(void)
{
    pthread_t thread;
    MUST(cudaMalloc(&kept, BYTES));
    pthread_create(&thread, NULL, free_it, NULL);
    pthread_join(thread, NULL);
}

static void near_memory_of_nothing(void)
{
    MUST(cudaMalloc(&kept, 0));
}

/* ---- leaks.host-memory ---- */

static char pages[3 * BYTES];

static void *page(void)
{
    return pages + BYTES - (size_t)pages % BYTES;
}

static void bad_host(void)
{
    MUST(cudaMallocHost(&kept, BYTES));
}

static void bad_host_alloc(void)
{
    MUST(cudaHostAlloc(&kept, BYTES, cudaHostAllocPortable));
}

static void bad_host_managed(void)
{
    MUST(cudaMallocManaged(&kept, BYTES));
}

static void bad_host_registered(void)
{
    MUST(cudaHostRegister(page(), BYTES, cudaHostRegisterDefault));
}

static void bad_host_two(void)
{
    MUST(cudaMallocHost(&kept, BYTES));
    MUST(cudaMallocHost(&kept, BYTES));
    MUST(cudaFreeHost(kept));
}

static void near_host(void)
{
    MUST(cudaMallocHost(&kept, BYTES));
    MUST(cudaFreeHost(kept));
}

static void near_host_managed(void)
{
    MUST(cudaMallocManaged(&kept, BYTES));
    MUST(cudaFree(kept));
}

static void near_host_registered(void)
{
    MUST(cudaHostRegister(page(), BYTES, cudaHostRegisterDefault));
    MUST(cudaHostUnregister(page()));
}

static void near_host_pageable(void)
{
    void *device;
    MUST(cudaMalloc(&device, BYTES));
    MUST(cudaMemcpy(device, page(), BYTES, cudaMemcpyHostToDevice));
    MUST(cudaFree(device));
}

static void near_host_malloc(void)
{
    kept = malloc(BYTES);
    MUST(cudaSetDevice(0));
}

/* ---- leaks.streams ---- */

static cudaStream_t stream;

static void bad_stream(void)
{
    MUST(cudaStreamCreate(&stream)); // @bad_stream
}

static void bad_stream_flags(void)
{
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); // @bad_stream_flags
}

static void bad_stream_priority(void)
{
    MUST(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, 0)); // @bad_stream_priority
}

static void bad_stream_other_gpu(void)
{
    MUST(cudaSetDevice(1));
    MUST(cudaStreamCreate(&stream)); // @bad_stream_other_gpu
}

static void bad_stream_one_too_many(void)
{
    for (int i = 0; i < 2; i++)
        MUST(cudaStreamCreate(&stream)); // @bad_stream_one_too_many
    MUST(cudaStreamDestroy(stream));
}

static void near_stream(void)
{
    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamDestroy(stream));
}

static void near_stream_default(void)
{
    MUST(cudaStreamSynchronize(0));
}

static void near_stream_per_thread(void)
{
    MUST(cudaStreamSynchronize(cudaStreamPerThread));
}

static void near_stream_reset(void)
{
    MUST(cudaStreamCreate(&stream));
    MUST(cudaDeviceReset());
}

static void near_stream_with_work(void)
{
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&kept, BYTES));
    MUST(cudaMemsetAsync(kept, 0, BYTES, stream));
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFree(kept));
}

/* ---- leaks.events ---- */

static cudaEvent_t event;

static void bad_event(void)
{
    MUST(cudaEventCreate(&event)); // @bad_event
}

static void bad_event_flags(void)
{
    MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); // @bad_event_flags
}

static void bad_event_recorded(void)
{
    MUST(cudaEventCreate(&event)); // @bad_event_recorded
    MUST(cudaEventRecord(event, 0));
    MUST(cudaEventSynchronize(event));
}

static void bad_event_pair(void)
{
    cudaEvent_t begin;
    MUST(cudaEventCreate(&begin)); // @bad_event_pair
    MUST(cudaEventCreate(&event));
    MUST(cudaEventDestroy(event));
}

static void bad_event_other_gpu(void)
{
    MUST(cudaSetDevice(1));
    MUST(cudaEventCreate(&event)); // @bad_event_other_gpu
}

static void near_event(void)
{
    MUST(cudaEventCreate(&event));
    MUST(cudaEventDestroy(event));
}

static void near_event_recorded(void)
{
    MUST(cudaEventCreate(&event));
    MUST(cudaEventRecord(event, 0));
    MUST(cudaEventDestroy(event));
}

static void near_event_reset(void)
{
    MUST(cudaEventCreate(&event));
    MUST(cudaDeviceReset());
}

static void near_event_in_loop(void)
{
    for (int i = 0; i < 3; i++)
        near_event();
}

static void near_event_refused(void)
{
    if (cudaEventCreateWithFlags(&event, 0x100) == cudaSuccess)
        exit(4);
}

/* ---- leaks.peers ---- */

static void enable(int from, int to)
{
    MUST(cudaSetDevice(from));
    MUST(cudaDeviceEnablePeerAccess(to, 0));
}

static void disable(int from, int to)
{
    MUST(cudaSetDevice(from));
    MUST(cudaDeviceDisablePeerAccess(to));
}

static void bad_peer(void)
{
    enable(0, 1);
}

static void bad_peer_both(void)
{
    enable(0, 1);
    enable(1, 0);
}

static void bad_peer_half(void)
{
    enable(0, 1);
    enable(1, 0);
    disable(0, 1);
}

static void bad_peer_all(void)
{
    for (int g = 1; g < 4; g++)
        enable(0, g);
}

static void bad_peer_wrong_one(void)
{
    enable(0, 1);
    enable(0, 2);
    disable(0, 1);
}

static void near_peer(void)
{
    enable(0, 1);
    disable(0, 1);
}

static void near_peer_both(void)
{
    enable(0, 1);
    enable(1, 0);
    disable(1, 0);
    disable(0, 1);
}

static void near_peer_reset(void)
{
    enable(0, 1);
    MUST(cudaDeviceReset());
}

static void near_peer_other_reset(void)
{
    enable(0, 1);
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceReset());
}

static void near_peer_asked(void)
{
    int can;
    MUST(cudaDeviceCanAccessPeer(&can, 0, 1));
    MUST(cudaSetDevice(0));
    MUST(cudaFree(0));
}

#define MEMORY(name) CASE("leaks.memory", name)
#define HOST(name) CASE("leaks.host-memory", name)
#define STREAM(name) CASE("leaks.streams", name)
#define EVENT(name) CASE("leaks.events", name)
#define PEER(name) CASE("leaks.peers", name)

static const struct test_case cases[] = {
    MEMORY(bad_memory),
    MEMORY(bad_memory_large),
    MEMORY(bad_memory_pitch),
    MEMORY(bad_memory_pool),
    MEMORY(bad_memory_one_of_two),
    MEMORY(near_memory),
    MEMORY(near_memory_pool),
    MEMORY(near_memory_reset),
    MEMORY(near_memory_other_thread),
    MEMORY(near_memory_of_nothing),
    HOST(bad_host),
    HOST(bad_host_alloc),
    HOST(bad_host_managed),
    HOST(bad_host_registered),
    HOST(bad_host_two),
    HOST(near_host),
    HOST(near_host_managed),
    HOST(near_host_registered),
    HOST(near_host_pageable),
    HOST(near_host_malloc),
    STREAM(bad_stream),
    STREAM(bad_stream_flags),
    STREAM(bad_stream_priority),
    STREAM(bad_stream_other_gpu),
    STREAM(bad_stream_one_too_many),
    STREAM(near_stream),
    STREAM(near_stream_default),
    STREAM(near_stream_per_thread),
    STREAM(near_stream_reset),
    STREAM(near_stream_with_work),
    EVENT(bad_event),
    EVENT(bad_event_flags),
    EVENT(bad_event_recorded),
    EVENT(bad_event_pair),
    EVENT(bad_event_other_gpu),
    EVENT(near_event),
    EVENT(near_event_recorded),
    EVENT(near_event_reset),
    EVENT(near_event_in_loop),
    EVENT(near_event_refused),
    PEER(bad_peer),
    PEER(bad_peer_both),
    PEER(bad_peer_half),
    PEER(bad_peer_all),
    PEER(bad_peer_wrong_one),
    PEER(near_peer),
    PEER(near_peer_both),
    PEER(near_peer_reset),
    PEER(near_peer_other_reset),
    PEER(near_peer_asked),
};

int main(int argc, char **argv)
{
    return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}

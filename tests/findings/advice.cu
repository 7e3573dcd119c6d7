/* SPDX-License-Identifier: MIT
 * advice.cu: cases of advice.*: programs that are right, and slower than they need be.
 */
#include "cases.h"

#define N (1 << 18)
#define BYTES (N * sizeof(int))

__global__ void fill(int *to, int count, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = value;
}

static int *x[2], *y[2], *pinned;
static cudaStream_t s[2];
static cudaEvent_t e[2];
static int pageable[N];

static void start(void)
{
    for (int g = 0; g < 2; g++) {
        x[g] = (int *)device_memory(g, BYTES);
        y[g] = (int *)device_memory(g, BYTES);
        s[g] = stream_on(g, cudaStreamNonBlocking);
        e[g] = event_on(g);
    }
    pinned = (int *)pinned_memory(BYTES);
}

static void work(int gpu)
{
    MUST(cudaSetDevice(gpu));
    fill<<<N / 256, 256, 0, s[gpu]>>>(x[gpu], N, gpu);
}

/* ---- advice.staging ---- */

static void bad_peer_call(void)
{
    MUST(cudaMemcpyPeer(x[1], 1, x[0], 0, BYTES)); // @bad_peer_call
}

static void bad_peer_async(void)
{
    MUST(cudaMemcpyPeerAsync(x[1], 1, x[0], 0, BYTES, s[0])); // @bad_peer_async
    MUST(cudaStreamSynchronize(s[0]));
}

static void bad_plain_copy(void)
{
    MUST(cudaMemcpy(x[1], x[0], BYTES, cudaMemcpyDefault)); // @bad_plain_copy
    wait_for_all(2);
}

static void bad_ring_of_two(void)
{
    for (int g = 0; g < 2; g++)
        MUST(cudaMemcpyPeerAsync(y[1 - g], 1 - g, x[g], g, BYTES, s[g])); // @bad_ring_of_two
    wait_for_all(2);
}

static void bad_disabled(void)
{
    MUST(cudaSetDevice(0));
    MUST(cudaDeviceEnablePeerAccess(1, 0));
    MUST(cudaDeviceDisablePeerAccess(1));
    MUST(cudaMemcpyPeer(x[1], 1, x[0], 0, BYTES)); // @bad_disabled
}

static void near_direct(void)
{
    enable_peers();
    MUST(cudaMemcpyPeer(x[1], 1, x[0], 0, BYTES));
}

static void near_direct_one_way(void)
{
    MUST(cudaSetDevice(0));
    MUST(cudaDeviceEnablePeerAccess(1, 0));
    MUST(cudaMemcpyPeer(x[1], 1, x[0], 0, BYTES));
}

static void near_same_gpu(void)
{
    MUST(cudaMemcpyPeer(y[0], 0, x[0], 0, BYTES));
}

static void near_to_host(void)
{
    MUST(cudaMemcpy(pinned, x[0], BYTES, cudaMemcpyDeviceToHost));
    MUST(cudaMemcpy(x[1], pinned, BYTES, cudaMemcpyHostToDevice));
}

static void near_nothing_copied(void)
{
    MUST(cudaMemcpyPeer(x[1], 1, x[0], 0, 0));
}

/* ---- advice.pageable ---- */

static void bad_from_array(void)
{
    MUST(cudaMemcpyAsync(x[0], pageable, BYTES, cudaMemcpyHostToDevice, s[0])); // @bad_from_array
}

static void bad_to_array(void)
{
    MUST(cudaMemcpyAsync(pageable, x[0], BYTES, cudaMemcpyDeviceToHost, s[0])); // @bad_to_array
}

static void bad_from_malloc(void)
{
    int *host = (int *)calloc(N, sizeof(int));
    MUST(cudaMemcpyAsync(x[0], host, BYTES, cudaMemcpyDefault, s[0])); // @bad_from_malloc
    free(host);
}

static void bad_in_pieces(void)
{
    for (int i = 0; i < 8; i++)
        MUST(cudaMemcpyAsync(x[0] + i * N / 8, pageable + i * N / 8, // @bad_in_pieces
                             BYTES / 8, cudaMemcpyHostToDevice, s[0]));
}

static void bad_rows(void)
{
    MUST(cudaMemcpy2DAsync(x[0], 1024, pageable, 1024, 1024, 256, // @bad_rows
                           cudaMemcpyHostToDevice, s[0]));
}

static void near_pinned(void)
{
    MUST(cudaMemcpyAsync(x[0], pinned, BYTES, cudaMemcpyHostToDevice, s[0]));
}

static void near_synchronous(void)
{
    MUST(cudaMemcpy(x[0], pageable, BYTES, cudaMemcpyHostToDevice));
}

static void near_registered(void)
{
    MUST(cudaHostRegister(pageable, BYTES, cudaHostRegisterDefault));
    MUST(cudaMemcpyAsync(x[0], pageable, BYTES, cudaMemcpyHostToDevice, s[0]));
    MUST(cudaStreamSynchronize(s[0]));
    MUST(cudaHostUnregister(pageable));
}

static void near_one_word(void)
{
    MUST(cudaMemcpyAsync(x[0], pageable, sizeof(int), cudaMemcpyHostToDevice, s[0]));
}

static void near_on_the_device(void)
{
    MUST(cudaMemcpyAsync(y[0], x[0], BYTES, cudaMemcpyDeviceToDevice, s[0]));
}

/* ---- advice.serialised ---- */

static void bad_wait_in_loop(void)
{
    for (int g = 0; g < 2; g++) {
        work(g);
        MUST(cudaDeviceSynchronize()); // @bad_wait_in_loop
    }
}

static void bad_stream_wait_in_loop(void)
{
    for (int g = 0; g < 2; g++) {
        work(g);
        MUST(cudaStreamSynchronize(s[g])); // @bad_stream_wait_in_loop
    }
}

static void bad_event_wait_in_loop(void)
{
    for (int g = 0; g < 2; g++) {
        work(g);
        MUST(cudaEventRecord(e[g], s[g]));
        MUST(cudaEventSynchronize(e[g])); // @bad_event_wait_in_loop
    }
}

static void bad_copies_one_by_one(void)
{
    for (int g = 0; g < 2; g++) {
        MUST(cudaMemcpyAsync(y[g], x[g], BYTES, cudaMemcpyDeviceToDevice, s[g]));
        MUST(cudaStreamSynchronize(s[g])); // @bad_copies_one_by_one
    }
}

static void bad_rounds(void)
{
    for (int round = 0; round < 3; round++)
        for (int g = 0; g < 2; g++) {
            work(g);
            work(g);
            MUST(cudaDeviceSynchronize()); // @bad_rounds
        }
}

static void near_work_then_waits(void)
{
    for (int round = 0; round < 3; round++) {
        for (int g = 0; g < 2; g++)
            work(g);
        wait_for_all(2);
    }
}

static void near_one_gpu(void)
{
    for (int i = 0; i < 3; i++) {
        work(0);
        MUST(cudaDeviceSynchronize());
    }
}

static void near_needs_the_first(void)
{
    enable_peers();
    work(0);
    MUST(cudaDeviceSynchronize());
    MUST(cudaSetDevice(1));
    MUST(cudaMemcpyPeerAsync(x[1], 1, x[0], 0, BYTES, s[1]));
    MUST(cudaStreamSynchronize(s[1]));
}

static void near_host_has_looked(void)
{
    MUST(cudaMemcpyAsync(pinned, x[0], BYTES, cudaMemcpyDeviceToHost, s[0]));
    MUST(cudaStreamSynchronize(s[0]));
    work(1);
}

static void near_nothing_to_wait_for(void)
{
    MUST(cudaSetDevice(0));
    MUST(cudaDeviceSynchronize());
    work(1);
}

/* ---- advice.allocation ---- */

static void use(void *memory)
{
    MUST(cudaMemset(memory, 0, 4096));
}

static void bad_alloc_in_loop(void)
{
    for (int i = 0; i < 32; i++) {
        void *p;
        MUST(cudaMalloc(&p, 4096)); // @bad_alloc_in_loop
        use(p);
        MUST(cudaFree(p));
    }
}

static void bad_alloc_large(void)
{
    for (int i = 0; i < 20; i++) {
        void *p;
        MUST(cudaMalloc(&p, 4 << 20)); // @bad_alloc_large
        MUST(cudaFree(p));
    }
}

static void bad_alloc_freed_later(void)
{
    void *p[2] = {NULL, NULL};
    for (int i = 0; i < 32; i++) {
        MUST(cudaFree(p[i % 2]));
        MUST(cudaMalloc(&p[i % 2], 4096)); // @bad_alloc_freed_later
    }
}

static void *scratch(size_t bytes)
{
    void *p;
    MUST(cudaMalloc(&p, bytes)); // @bad_alloc_in_function
    return p;
}

static void bad_alloc_in_function(void)
{
    for (int i = 0; i < 24; i++)
        MUST(cudaFree(scratch(512 + i)));
}

static void bad_alloc_pitch(void)
{
    for (int i = 0; i < 16; i++) {
        void *p;
        size_t pitch;
        MUST(cudaMallocPitch(&p, &pitch, 100, 10)); // @bad_alloc_pitch
        MUST(cudaFree(p));
    }
}

static void near_alloc_once(void)
{
    void *p;
    MUST(cudaMalloc(&p, 4096));
    for (int i = 0; i < 32; i++)
        use(p);
    MUST(cudaFree(p));
}

static void near_alloc_many_kept(void)
{
    void *p[32];
    for (int i = 0; i < 32; i++)
        MUST(cudaMalloc(&p[i], 4096));
    for (int i = 0; i < 32; i++)
        MUST(cudaFree(p[i]));
}

static void near_alloc_async(void)
{
    for (int i = 0; i < 32; i++) {
        void *p;
        MUST(cudaMallocAsync(&p, 4096, s[0]));
        MUST(cudaFreeAsync(p, s[0]));
    }
}

static void near_alloc_few(void)
{
    for (int i = 0; i < 4; i++)
        MUST(cudaFree(scratch(4096)));
}

static void near_alloc_host(void)
{
    for (int i = 0; i < 32; i++)
        free(malloc(4096));
}

/* ---- advice.tiny-transfers ---- */

static void bad_word_by_word(void)
{
    for (int i = 0; i < 256; i++)
        MUST(cudaMemcpy(x[0] + i, pageable + i, 4, cudaMemcpyHostToDevice)); // @bad_word_by_word
}

static void bad_read_word_by_word(void)
{
    for (int i = 0; i < 256; i++)
        MUST(cudaMemcpy(pinned + i, x[0] + i, 4, cudaMemcpyDeviceToHost)); // @bad_read_word_by_word
}

static void bad_rows_one_by_one(void)
{
    for (int row = 0; row < 100; row++)
        MUST(cudaMemcpyAsync(x[0] + row * 64, pinned + row * 64, 256, // @bad_rows_one_by_one
                             cudaMemcpyHostToDevice, s[0]));
}

static void bad_on_the_device(void)
{
    for (int i = 0; i < 128; i++)
        MUST(cudaMemcpyAsync(y[0] + i, x[0] + 2 * i, 4, // @bad_on_the_device
                             cudaMemcpyDeviceToDevice, s[0]));
}

static void bad_to_a_peer(void)
{
    enable_peers();
    for (int i = 0; i < 128; i++)
        MUST(cudaMemcpyPeerAsync(x[1] + i, 1, x[0] + i, 0, 4, s[0])); // @bad_to_a_peer
}

static void near_all_at_once(void)
{
    MUST(cudaMemcpy(x[0], pinned, 256 * 4, cudaMemcpyHostToDevice));
}

static void near_a_few(void)
{
    for (int i = 0; i < 10; i++)
        MUST(cudaMemcpy(x[0] + i, pageable + i, 4, cudaMemcpyHostToDevice));
}

static void near_large_pieces(void)
{
    for (int i = 0; i < 128; i++)
        MUST(cudaMemcpyAsync(x[0] + i * 2048, pinned + i * 2048, 8192, // large enough
                             cudaMemcpyHostToDevice, s[0]));
}

static void near_rows_in_one_call(void)
{
    MUST(cudaMemcpy2DAsync(x[0], 256, pinned, 256, 128, 256, cudaMemcpyHostToDevice, s[0]));
}

static void near_by_a_kernel(void)
{
    fill<<<1, 256, 0, s[0]>>>(x[0], 256, 1);
}

#define STAGING(name) CASE("advice.staging", name)
#define PAGEABLE(name) CASE("advice.pageable", name)
#define SERIAL(name) CASE("advice.serialised", name)
#define ALLOCATION(name) CASE("advice.allocation", name)
#define TINY(name) CASE("advice.tiny-transfers", name)

static const struct test_case cases[] = {
    STAGING(bad_peer_call),
    STAGING(bad_peer_async),
    STAGING(bad_plain_copy),
    STAGING(bad_ring_of_two),
    STAGING(bad_disabled),
    STAGING(near_direct),
    STAGING(near_direct_one_way),
    STAGING(near_same_gpu),
    STAGING(near_to_host),
    STAGING(near_nothing_copied),
    PAGEABLE(bad_from_array),
    PAGEABLE(bad_to_array),
    PAGEABLE(bad_from_malloc),
    PAGEABLE(bad_in_pieces),
    PAGEABLE(bad_rows),
    PAGEABLE(near_pinned),
    PAGEABLE(near_synchronous),
    PAGEABLE(near_registered),
    PAGEABLE(near_one_word),
    PAGEABLE(near_on_the_device),
    SERIAL(bad_wait_in_loop),
    SERIAL(bad_stream_wait_in_loop),
    SERIAL(bad_event_wait_in_loop),
    SERIAL(bad_copies_one_by_one),
    SERIAL(bad_rounds),
    SERIAL(near_work_then_waits),
    SERIAL(near_one_gpu),
    SERIAL(near_needs_the_first),
    SERIAL(near_host_has_looked),
    SERIAL(near_nothing_to_wait_for),
    ALLOCATION(bad_alloc_in_loop),
    ALLOCATION(bad_alloc_large),
    ALLOCATION(bad_alloc_freed_later),
    ALLOCATION(bad_alloc_in_function),
    ALLOCATION(bad_alloc_pitch),
    ALLOCATION(near_alloc_once),
    ALLOCATION(near_alloc_many_kept),
    ALLOCATION(near_alloc_async),
    ALLOCATION(near_alloc_few),
    ALLOCATION(near_alloc_host),
    TINY(bad_word_by_word),
    TINY(bad_read_word_by_word),
    TINY(bad_rows_one_by_one),
    TINY(bad_on_the_device),
    TINY(bad_to_a_peer),
    TINY(near_all_at_once),
    TINY(near_a_few),
    TINY(near_large_pieces),
    TINY(near_rows_in_one_call),
    TINY(near_by_a_kernel),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    int status = run_case(cases, sizeof cases / sizeof *cases, argc, argv);
    if (argc > 1)
        wait_for_all(2);
    return status;
}

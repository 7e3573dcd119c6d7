/* SPDX-License-Identifier: MIT
 * api.cu: cases of api.*: calls that do not do what they seem to.
 */
#include "cases.h"

#define N 1024
#define BYTES (N * sizeof(int))
#define HUGE_BYTES ((size_t)1 << 50)

__global__ void fill(int *to, int count, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = value;
}

__global__ void copy(int *to, const int *from, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i];
}

__global__ void add_up(int *to)
{
    atomicAdd(to, 1);
}

static cudaStream_t s[2];
static cudaEvent_t e[2];
static int *x[2], *y[2];
static cudaError_t result;
static volatile int looked;

static void look(cudaError_t error)
{
    looked = (int)error;
}

static void start(void)
{
    for (int g = 0; g < 2; g++) {
        x[g] = (int *)device_memory(g, BYTES);
        y[g] = (int *)device_memory(g, BYTES);
        s[g] = stream_on(g, cudaStreamDefault);
        e[g] = event_on(g);
        MUST(cudaMemset(x[g], 0, BYTES));
        MUST(cudaMemset(y[g], 0, BYTES));
    }
    wait_for_all(2);
    MUST(cudaSetDevice(0));
}

static void one_way(int from, int to)
{
    MUST(cudaSetDevice(from));
    MUST(cudaDeviceEnablePeerAccess(to, 0));
}

/* ---- api.event-unrecorded ---- */

static void bad_stream_waits(void)
{
    MUST(cudaStreamWaitEvent(s[0], e[0], 0)); // @bad_stream_waits
}

static void bad_host_waits(void)
{
    MUST(cudaEventSynchronize(e[0])); // @bad_host_waits
}

static void bad_waits_for_the_other(void)
{
    MUST(cudaEventRecord(e[0], s[0]));
    MUST(cudaStreamWaitEvent(s[0], e[1], 0)); // @bad_waits_for_the_other
}

static void bad_waits_then_destroys(void)
{
    cudaEvent_t mine = event_on(0);
    MUST(cudaStreamWaitEvent(s[1], mine, 0)); // @bad_waits_then_destroys
    MUST(cudaEventDestroy(mine));
}

static void bad_record_was_skipped(void)
{
    for (int i = 0; i < 3; i++) {
        if (i > 5)
            MUST(cudaEventRecord(e[0], s[0]));
        MUST(cudaStreamWaitEvent(s[1], e[0], 0)); // @bad_record_was_skipped
    }
}

static void near_first_round(void)
{
    for (int i = 0; i < 3; i++) {
        MUST(cudaStreamWaitEvent(s[1], e[0], 0));
        MUST(cudaEventRecord(e[0], s[0]));
    }
}

static void near_recorded(void)
{
    MUST(cudaEventRecord(e[0], s[0]));
    MUST(cudaStreamWaitEvent(s[1], e[0], 0));
    MUST(cudaEventSynchronize(e[0]));
}

static void near_only_asked(void)
{
    MUST(cudaEventQuery(e[0]));
}

static void near_never_used(void)
{
    MUST(cudaEventDestroy(e[0]));
}

static void near_recorded_after_all(void)
{
    MUST(cudaEventSynchronize(e[1]));
    MUST(cudaEventRecord(e[1], s[1]));
    MUST(cudaEventSynchronize(e[1]));
}

/* ---- api.wrong-device ---- */

static void bad_device_not_set(void)
{
    fill<<<N / 256, 256>>>(x[1], N, 1); // @bad_device_not_set
    result = cudaDeviceSynchronize();
}

static void bad_device_not_set_in_loop(void)
{
    for (int g = 0; g < 2; g++)
        copy<<<N / 256, 256>>>(x[g], y[g], N); // @bad_device_not_set_in_loop
    result = cudaDeviceSynchronize();
}

static void bad_reads_the_other(void)
{
    MUST(cudaSetDevice(1));
    copy<<<N / 256, 256, 0, s[1]>>>(x[1], y[0], N); // @bad_reads_the_other
    result = cudaDeviceSynchronize();
}

static void bad_fill_in_others_stream(void)
{
    result = cudaMemsetAsync(x[1], 0, BYTES, s[0]); // @bad_fill_in_others_stream
}

static void bad_event_of_the_other(void)
{
    result = cudaEventRecord(e[1], s[0]); // @bad_event_of_the_other
}

static void bad_fill_by_default_stream(void)
{
    result = cudaMemset(x[1], 0, BYTES); // @bad_fill_by_default_stream
}

static cudaEvent_t for_others(int device)
{
    cudaEvent_t event;
    MUST(cudaSetDevice(device));
    MUST(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    return event;
}

static void bad_event_handle(void)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event = for_others(1);
    MUST(cudaSetDevice(0));
    MUST(cudaIpcGetEventHandle(&handle, event)); // @bad_event_handle
    MUST(cudaEventDestroy(event));
}

static void near_event_handle(void)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event = for_others(1);
    MUST(cudaIpcGetEventHandle(&handle, event));
    MUST(cudaEventDestroy(event));
}

static void near_device_set(void)
{
    for (int g = 0; g < 2; g++) {
        MUST(cudaSetDevice(g));
        copy<<<N / 256, 256>>>(x[g], y[g], N);
    }
}

static void near_peer_access(void)
{
    enable_peers();
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256>>>(x[1], N, 1);
}

static void near_copy_by_another(void)
{
    MUST(cudaMemcpyPeerAsync(x[1], 1, x[0], 0, BYTES, s[0]));
    MUST(cudaMemcpyAsync(y[1], y[1] + N / 2, BYTES / 2, cudaMemcpyDeviceToDevice, s[1]));
}

static void near_stream_of_the_memory(void)
{
    MUST(cudaMemsetAsync(x[1], 0, BYTES, s[1]));
}

static void near_event_waited_for_elsewhere(void)
{
    MUST(cudaEventRecord(e[1], s[1]));
    MUST(cudaStreamWaitEvent(s[0], e[1], 0));
}

/* ---- api.peer-one-way ---- */

static void bad_read_back(void)
{
    one_way(0, 1);
    MUST(cudaSetDevice(1));
    copy<<<N / 256, 256>>>(x[1], x[0], N); // @bad_read_back
    result = cudaDeviceSynchronize();
}

static void bad_write_back(void)
{
    one_way(0, 1);
    MUST(cudaSetDevice(1));
    fill<<<N / 256, 256>>>(x[0], N, 1); // @bad_write_back
    result = cudaDeviceSynchronize();
}

static void bad_other_way_round(void)
{
    one_way(1, 0);
    MUST(cudaSetDevice(0));
    copy<<<N / 256, 256>>>(x[0], x[1], N); // @bad_other_way_round
    result = cudaDeviceSynchronize();
}

static void bad_atomic_back(void)
{
    one_way(0, 1);
    MUST(cudaSetDevice(1));
    add_up<<<1, 1, 0, s[1]>>>(x[0]); // @bad_atomic_back
    result = cudaStreamSynchronize(s[1]);
}

static void bad_disabled_again(void)
{
    enable_peers();
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceDisablePeerAccess(0));
    copy<<<N / 256, 256>>>(x[1], x[0], N); // @bad_disabled_again
    result = cudaDeviceSynchronize();
}

static void near_both_ways(void)
{
    enable_peers();
    MUST(cudaSetDevice(1));
    copy<<<N / 256, 256>>>(x[1], x[0], N);
}

static void near_the_way_that_is_used(void)
{
    one_way(1, 0);
    copy<<<N / 256, 256>>>(x[1], x[0], N);
}

static void near_copies_go_either_way(void)
{
    one_way(0, 1);
    MUST(cudaMemcpyPeer(x[0], 0, x[1], 1, BYTES));
    MUST(cudaMemcpyPeer(x[1], 1, x[0], 0, BYTES));
}

static void near_own_memory(void)
{
    one_way(0, 1);
    MUST(cudaSetDevice(1));
    copy<<<N / 256, 256>>>(x[1], y[1], N);
}

static void near_host_memory(void)
{
    int *host = (int *)pinned_memory(BYTES);
    one_way(0, 1);
    MUST(cudaSetDevice(1));
    copy<<<N / 256, 256>>>(x[1], host, N);
}

/* ---- api.unchecked ---- */

static void bad_allocation_thrown_away(void)
{
    void *p = NULL;
    cudaMalloc(&p, HUGE_BYTES); // @bad_allocation_thrown_away
}

static void bad_launch_too_large(void)
{
    fill<<<1, 2048>>>(x[0], N, 1); // @bad_launch_too_large
    MUST(cudaDeviceSynchronize());
}

static void bad_direction(void)
{
    int host = 0;
    cudaMemcpy(x[0], &host, sizeof host, cudaMemcpyDeviceToHost); // @bad_direction
}

static void bad_device_number(void)
{
    for (int i = 0; i < 1; i++) {
        cudaSetDevice(99); // @bad_device_number
    }
}

static void bad_free_of_the_middle(void)
{
    MUST(cudaDeviceSynchronize());
    cudaFree(x[0] + 1); // @bad_free_of_the_middle
}

static void bad_fault_thrown_away(void)
{
    fill<<<1, 32>>>((int *)0x1000, 32, 1);
    cudaDeviceSynchronize(); // @bad_fault_thrown_away
}

static void near_kept(void)
{
    void *p = NULL;
    result = cudaMalloc(&p, HUGE_BYTES);
}

static void near_compared(void)
{
    void *p = NULL;
    if (cudaMalloc(&p, HUGE_BYTES) == cudaErrorMemoryAllocation)
        look(cudaGetLastError());
}

static void near_handed_on(void)
{
    look(cudaSetDevice(99));
}

static void near_launch_asked(void)
{
    fill<<<1, 2048>>>(x[0], N, 1);
    look(cudaGetLastError());
}

static void near_launch_peeked(void)
{
    fill<<<1, 2048>>>(x[0], N, 1);
    look(cudaPeekAtLastError());
}

static void near_thrown_away_and_right(void)
{
    cudaSetDevice(1);
    cudaDeviceSynchronize();
}

static void near_on_purpose(void)
{
    (void)cudaFree(x[0] + 1);
}

/* ---- api.late-error ---- */

static void bad_already_enabled(void)
{
    one_way(0, 1);
    look(cudaDeviceEnablePeerAccess(1, 0)); // @bad_already_enabled
    fill<<<1, 32>>>(x[0], 32, 1);
    look(cudaGetLastError()); // @bad_already_enabled
}

static void bad_too_much_memory(void)
{
    void *p = NULL;
    result = cudaMalloc(&p, HUGE_BYTES); // @bad_too_much_memory
    fill<<<1, 32>>>(x[0], 32, 1);
    fill<<<1, 32>>>(x[0], 32, 2);
    look(cudaGetLastError()); // @bad_too_much_memory
}

static void bad_peek_is_late(void)
{
    result = cudaSetDevice(99); // @bad_peek_is_late
    fill<<<1, 32>>>(x[0], 32, 1);
    look(cudaPeekAtLastError()); // @bad_peek_is_late
}

static void bad_blames_the_kernel(void)
{
    if (cudaMemcpy(x[0], NULL, 4, cudaMemcpyHostToDevice)) // @bad_blames_the_kernel
        looked = 1;
    fill<<<1, 32>>>(x[0], 32, 1);
    result = cudaGetLastError(); // @bad_blames_the_kernel
}

static void bad_free_then_launch(void)
{
    look(cudaFree(x[0] + 1)); // @bad_free_then_launch
    fill<<<1, 32>>>(x[0], 32, 1);
    MUST(cudaDeviceSynchronize());
    result = cudaGetLastError(); // @bad_free_then_launch
}

static void near_cleared_before(void)
{
    look(cudaSetDevice(99));
    look(cudaGetLastError());
    fill<<<1, 32>>>(x[0], 32, 1);
    look(cudaGetLastError());
}

static void near_only_cleared(void)
{
    look(cudaSetDevice(99));
    fill<<<1, 32>>>(x[0], 32, 1);
    cudaGetLastError();
}

static void near_no_launch_since(void)
{
    look(cudaSetDevice(99));
    MUST(cudaDeviceSynchronize());
    look(cudaGetLastError());
}

static void near_the_launch_itself(void)
{
    fill<<<1, 2048>>>(x[0], 32, 1);
    MUST(cudaDeviceSynchronize());
    look(cudaGetLastError());
}

static void near_nothing_failed(void)
{
    look(cudaSetDevice(0));
    fill<<<1, 32>>>(x[0], 32, 1);
    look(cudaGetLastError());
}

#define EVENT(name) CASE("api.event-unrecorded", name)
#define DEVICE(name) CASE("api.wrong-device", name)
#define PEER(name) CASE("api.peer-one-way", name)
#define UNCHECKED(name) CASE("api.unchecked", name)
#define LATE(name) CASE("api.late-error", name)

static const struct test_case cases[] = {
    EVENT(bad_stream_waits),
    EVENT(bad_host_waits),
    EVENT(bad_waits_for_the_other),
    EVENT(bad_waits_then_destroys),
    EVENT(bad_record_was_skipped),
    EVENT(near_first_round),
    EVENT(near_recorded),
    EVENT(near_only_asked),
    EVENT(near_never_used),
    EVENT(near_recorded_after_all),
    DEVICE(bad_device_not_set),
    DEVICE(bad_device_not_set_in_loop),
    DEVICE(bad_reads_the_other),
    DEVICE(bad_fill_in_others_stream),
    DEVICE(bad_event_of_the_other),
    DEVICE(bad_fill_by_default_stream),
    DEVICE(bad_event_handle),
    DEVICE(near_event_handle),
    DEVICE(near_device_set),
    DEVICE(near_peer_access),
    DEVICE(near_copy_by_another),
    DEVICE(near_stream_of_the_memory),
    DEVICE(near_event_waited_for_elsewhere),
    PEER(bad_read_back),
    PEER(bad_write_back),
    PEER(bad_other_way_round),
    PEER(bad_atomic_back),
    PEER(bad_disabled_again),
    PEER(near_both_ways),
    PEER(near_the_way_that_is_used),
    PEER(near_copies_go_either_way),
    PEER(near_own_memory),
    PEER(near_host_memory),
    UNCHECKED(bad_allocation_thrown_away),
    UNCHECKED(bad_launch_too_large),
    UNCHECKED(bad_direction),
    UNCHECKED(bad_device_number),
    UNCHECKED(bad_free_of_the_middle),
    UNCHECKED(bad_fault_thrown_away),
    UNCHECKED(near_kept),
    UNCHECKED(near_compared),
    UNCHECKED(near_handed_on),
    UNCHECKED(near_launch_asked),
    UNCHECKED(near_launch_peeked),
    UNCHECKED(near_thrown_away_and_right),
    UNCHECKED(near_on_purpose),
    LATE(bad_already_enabled),
    LATE(bad_too_much_memory),
    LATE(bad_peek_is_late),
    LATE(bad_blames_the_kernel),
    LATE(bad_free_then_launch),
    LATE(near_cleared_before),
    LATE(near_only_cleared),
    LATE(near_no_launch_since),
    LATE(near_the_launch_itself),
    LATE(near_nothing_failed),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}

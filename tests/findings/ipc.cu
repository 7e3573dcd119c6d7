/* SPDX-License-Identifier: MIT
 * ipc.cu: cases with two processes: order.processes, api.free-while-open, leaks.handles. The
 * exporter has memory on GPU 0; the importer opens it while GPU 1 is current. They go by turns, by
 * pipes.
 */
#include "cases.h"

#include <sys/wait.h>
#include <unistd.h>

#define N 4096
#define BYTES (N * sizeof(int))

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

struct letter {
    cudaIpcMemHandle_t memory[2];
    cudaIpcEventHandle_t event;
};

static int in, out;
static bool exporter;
static cudaStream_t s;
static cudaEvent_t e;
static int *x, *y, *host, *mine;

static void send(const void *what, size_t bytes)
{
    if (write(out, what, bytes) != (ssize_t)bytes)
        exit(5);
}

static void receive(void *what, size_t bytes)
{
    if (read(in, what, bytes) != (ssize_t)bytes)
        exit(6);
}

static void tell(void)
{
    send("", 1);
}

static void hear(void)
{
    char c;
    receive(&c, 1);
}

/* x and y are the exporter's, in both processes, where they are opened there; e is shared. */
static void start(void)
{
    struct letter l;
    MUST(cudaSetDevice(exporter ? 0 : 1));
    MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    if (exporter) {
        MUST(cudaMalloc((void **)&x, BYTES));
        MUST(cudaMalloc((void **)&y, BYTES));
        MUST(cudaMallocHost((void **)&host, BYTES));
        MUST(cudaMemset(x, 0, BYTES));
        MUST(cudaDeviceSynchronize());
        MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventInterprocess));
        MUST(cudaIpcGetMemHandle(&l.memory[0], x));
        MUST(cudaIpcGetMemHandle(&l.memory[1], y));
        MUST(cudaIpcGetEventHandle(&l.event, e));
        send(&l, sizeof l);
        return;
    }
    MUST(cudaMalloc((void **)&mine, BYTES));
    receive(&l, sizeof l);
    MUST(cudaIpcOpenMemHandle((void **)&x, l.memory[0], cudaIpcMemLazyEnablePeerAccess));
    MUST(cudaIpcOpenMemHandle((void **)&y, l.memory[1], cudaIpcMemLazyEnablePeerAccess));
    MUST(cudaIpcOpenEventHandle(&e, l.event));
}

/* Nobody needs anything of the other any more; then everything is given back. */
static void finish(void)
{
    MUST(cudaDeviceSynchronize());
    tell();
    hear();
    if (!exporter) {
        if (x)
            MUST(cudaIpcCloseMemHandle(x));
        if (y)
            MUST(cudaIpcCloseMemHandle(y));
        MUST(cudaFree(mine));
    }
    tell();
    hear();
    if (exporter) {
        if (x)
            MUST(cudaFree(x));
        if (y)
            MUST(cudaFree(y));
        MUST(cudaFreeHost(host));
    }
    MUST(cudaEventDestroy(e));
    MUST(cudaStreamDestroy(s));
}

/* ---- order.processes ---- */

/* The second one has done its part. */
static void answer(void)
{
    MUST(cudaStreamSynchronize(s));
    tell();
}

static void bad_told_too_early(void)
{
    if (exporter) {
        fill<<<N / 256, 256, 0, s>>>(x, N, 5); // @bad_told_too_early
        tell();
        hear();
        return;
    }
    hear();
    copy<<<N / 256, 256, 0, s>>>(mine, x, N); // @bad_told_too_early
    answer();
}

static void bad_answer_too_early(void)
{
    if (!exporter) {
        fill<<<N / 256, 256, 0, s>>>(x, N, 5); // @bad_answer_too_early
        tell();
        hear();
        return;
    }
    hear();
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, s)); // @bad_answer_too_early
    answer();
}

static void bad_both_write(void)
{
    if (exporter) {
        fill<<<N / 256, 256, 0, s>>>(x, N, 5); // @bad_both_write
        tell();
        hear();
        return;
    }
    hear();
    MUST(cudaMemcpyAsync(x, mine, BYTES, cudaMemcpyDeviceToDevice, s)); // @bad_both_write
    answer();
}

static void bad_event_recorded_too_early(void)
{
    if (exporter) {
        MUST(cudaEventRecord(e, s));
        fill<<<N / 256, 256, 0, s>>>(x, N, 5); // @bad_event_recorded_too_early
        tell();
        hear();
        return;
    }
    hear();
    MUST(cudaStreamWaitEvent(s, e, 0));
    copy<<<N / 256, 256, 0, s>>>(mine, x, N); // @bad_event_recorded_too_early
    answer();
}

static void bad_waits_elsewhere(void)
{
    if (exporter) {
        fill<<<N / 256, 256, 0, s>>>(x, N, 5); // @bad_waits_elsewhere
        MUST(cudaStreamSynchronize(0));
        tell();
        hear();
        return;
    }
    hear();
    MUST(cudaMemcpyAsync(mine, x, BYTES, cudaMemcpyDeviceToDevice, s)); // @bad_waits_elsewhere
    answer();
}

static void near_waited_for(void)
{
    if (exporter) {
        fill<<<N / 256, 256, 0, s>>>(x, N, 5);
        MUST(cudaStreamSynchronize(s));
        tell();
        return;
    }
    hear();
    copy<<<N / 256, 256, 0, s>>>(mine, x, N);
}

static void near_event(void)
{
    if (exporter) {
        fill<<<N / 256, 256, 0, s>>>(x, N, 5);
        MUST(cudaEventRecord(e, s));
        tell();
        return;
    }
    hear();
    MUST(cudaStreamWaitEvent(s, e, 0));
    copy<<<N / 256, 256, 0, s>>>(mine, x, N);
}

static void near_halves(void)
{
    if (exporter)
        fill<<<N / 512, 256, 0, s>>>(x, N / 2, 5);
    else
        fill<<<N / 512, 256, 0, s>>>(x + N / 2, N / 2, 6);
}

static void near_both_read(void)
{
    if (exporter)
        MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, s));
    else
        copy<<<N / 256, 256, 0, s>>>(mine, x, N);
}

static void near_ping_and_pong(void)
{
    for (int round = 0; round < 3; round++) {
        if (!exporter || round > 0)
            hear();
        fill<<<N / 256, 256, 0, s>>>(x, N, round);
        MUST(cudaStreamSynchronize(s));
        tell();
    }
    if (exporter)
        hear();
}

/* ---- api.free-while-open ---- */

/* The importer says that it has opened, and `late` more; the exporter frees when it hears that. */
static void free_x(void)
{
    hear();
    MUST(cudaFree(x)); // @bad_open_when_freed
    x = NULL;
}

static void bad_open_when_freed(void)
{
    if (exporter)
        free_x();
    else
        tell();
}

static void bad_used_and_not_closed(void)
{
    if (exporter) {
        hear();
        MUST(cudaFree(x)); // @bad_used_and_not_closed
        x = NULL;
        return;
    }
    copy<<<N / 256, 256, 0, s>>>(mine, x, N);
    MUST(cudaStreamSynchronize(s));
    tell();
}

static void bad_the_other_was_closed(void)
{
    if (exporter) {
        hear();
        MUST(cudaFree(x)); // @bad_the_other_was_closed
        x = NULL;
        return;
    }
    MUST(cudaIpcCloseMemHandle(y));
    y = NULL;
    tell();
}

static void bad_freed_at_once(void)
{
    if (!exporter) {
        tell();
        return;
    }
    hear();
    fill<<<N / 256, 256, 0, s>>>(x, N, 5);
    MUST(cudaStreamSynchronize(s));
    MUST(cudaFree(x)); // @bad_freed_at_once
    x = NULL;
}

static void bad_both_freed(void)
{
    if (!exporter) {
        tell();
        return;
    }
    hear();
    MUST(cudaFree(y)); // @bad_both_freed
    y = NULL;
}

static void near_closed_before(void)
{
    if (exporter) {
        free_x();
        return;
    }
    MUST(cudaIpcCloseMemHandle(x));
    x = NULL;
    tell();
}

static void near_another_is_freed(void)
{
    void *other;
    if (!exporter) {
        tell();
        return;
    }
    MUST(cudaMalloc(&other, BYTES));
    hear();
    MUST(cudaFree(other));
}

static void near_exported_never_opened(void)
{
    cudaIpcMemHandle_t handle;
    void *other;
    if (!exporter) {
        tell();
        return;
    }
    MUST(cudaMalloc(&other, BYTES));
    MUST(cudaIpcGetMemHandle(&handle, other));
    hear();
    MUST(cudaFree(other));
}

static void near_used_then_closed(void)
{
    if (exporter) {
        free_x();
        return;
    }
    copy<<<N / 256, 256, 0, s>>>(mine, x, N);
    MUST(cudaIpcCloseMemHandle(x));
    x = NULL;
    tell();
}

static void near_both_closed(void)
{
    if (exporter) {
        free_x();
        MUST(cudaFree(y));
        y = NULL;
        return;
    }
    MUST(cudaIpcCloseMemHandle(y));
    MUST(cudaIpcCloseMemHandle(x));
    x = y = NULL;
    tell();
}

/* ---- leaks.handles: what the importer does not close ---- */

static void bad_not_closed(void)
{
    if (!exporter)
        x = NULL;
}

static void bad_both_not_closed(void)
{
    if (!exporter)
        x = y = NULL;
}

static void bad_used_not_closed(void)
{
    if (exporter)
        return;
    copy<<<N / 256, 256, 0, s>>>(mine, y, N);
    MUST(cudaStreamSynchronize(s));
    y = NULL;
}

static void open_again(void)
{
    cudaIpcMemHandle_t handle;
    void *again;
    if (exporter) {
        MUST(cudaIpcGetMemHandle(&handle, x));
        send(&handle, sizeof handle);
        return;
    }
    receive(&handle, sizeof handle);
    MUST(cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess));
}

static void bad_opened_twice(void)
{
    open_again();
}

static void bad_opened_thrice_closed_twice(void)
{
    open_again();
    open_again();
    if (!exporter)
        MUST(cudaIpcCloseMemHandle(x));
}

static void near_all_closed(void) {}

static void near_closed_as_often(void)
{
    open_again();
    if (!exporter)
        MUST(cudaIpcCloseMemHandle(x));
}

static void near_closed_early(void)
{
    if (exporter)
        return;
    MUST(cudaIpcCloseMemHandle(x));
    x = NULL;
}

static void near_used_and_closed(void)
{
    if (!exporter)
        fill<<<N / 256, 256, 0, s>>>(x, N, 5);
}

static void near_refused(void)
{
    cudaIpcMemHandle_t nonsense;
    void *p;
    memset(&nonsense, 1, sizeof nonsense);
    if (!exporter && cudaIpcOpenMemHandle(&p, nonsense, cudaIpcMemLazyEnablePeerAccess) == 0)
        exit(7);
}

#define ORDER(name) CASE("order.processes", name)
#define FREE(name) CASE("api.free-while-open", name)
#define HANDLES(name) CASE("leaks.handles", name)

static const struct test_case cases[] = {
    ORDER(bad_told_too_early),
    ORDER(bad_answer_too_early),
    ORDER(bad_both_write),
    ORDER(bad_event_recorded_too_early),
    ORDER(bad_waits_elsewhere),
    ORDER(near_waited_for),
    ORDER(near_event),
    ORDER(near_halves),
    ORDER(near_both_read),
    ORDER(near_ping_and_pong),
    FREE(bad_open_when_freed),
    FREE(bad_used_and_not_closed),
    FREE(bad_the_other_was_closed),
    FREE(bad_freed_at_once),
    FREE(bad_both_freed),
    FREE(near_closed_before),
    FREE(near_another_is_freed),
    FREE(near_exported_never_opened),
    FREE(near_used_then_closed),
    FREE(near_both_closed),
    HANDLES(bad_not_closed),
    HANDLES(bad_both_not_closed),
    HANDLES(bad_used_not_closed),
    HANDLES(bad_opened_twice),
    HANDLES(bad_opened_thrice_closed_twice),
    HANDLES(near_all_closed),
    HANDLES(near_closed_as_often),
    HANDLES(near_closed_early),
    HANDLES(near_used_and_closed),
    HANDLES(near_refused),
};

int main(int argc, char **argv)
{
    int there[2], back[2], status = 0;
    if (argc == 1)
        return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
    if (pipe(there) != 0 || pipe(back) != 0)
        return 8;
    pid_t child = fork(); /* before CUDA has been used */
    exporter = child != 0;
    in = exporter ? back[0] : there[0];
    out = exporter ? there[1] : back[1];
    close(exporter ? there[0] : there[1]);
    close(exporter ? back[1] : back[0]);
    start();
    int mine_status = run_case(cases, sizeof cases / sizeof *cases, argc, argv);
    finish();
    if (exporter && waitpid(child, &status, 0) != child)
        return 9;
    return mine_status ? mine_status : WIFEXITED(status) ? WEXITSTATUS(status) : 10;
}

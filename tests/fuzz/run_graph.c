/* SPDX-License-Identifier: MIT
 * run_graph.c: streams captured, graphs launched. One operation captures a whole graph, so that
 * what runs later touches only what is known to be there.
 */
#include "fuzz.h"

#include <string.h>

static struct graph {
    cudaGraphExec_t exec;
    int device;
    int buffers[4], count; /* what it touches */
} graphs[FUZZ_GRAPHS];

enum { STEPS = 3 };

static bool usable(int slot, int device)
{
    const struct fuzz_buffer *b = &state.buffer[slot];
    return b->kind != MEM_NONE && b->kind != MEM_PAGEABLE && b->kind != MEM_POOL &&
           b->kind != MEM_IPC && reachable(b, device, true) && fits(b, 0, 256);
}

static void remember(struct graph *g, int slot)
{
    for (int i = 0; i < g->count; i++)
        if (g->buffers[i] == slot)
            return;
    g->buffers[g->count++] = slot;
}

/* One captured call: a memset, a copy or a kernel. */
static void step(struct graph *g, int number, int dst, int src, cudaStream_t s)
{
    char *to = state.buffer[dst].ptr, *from = state.buffer[src].ptr;
    bool two = usable(src, g->device) && !alias(&state.buffer[dst], &state.buffer[src]);
    remember(g, dst);
    if (two)
        remember(g, src);
    if (number % 4 == 1 && two)
        said(cudaMemcpyAsync(to, from, 128, cudaMemcpyDefault, s));
    else if (number % 4 == 2 && two)
        said(fuzz_launch(KERNEL_ADD, 1, 64, 0, (int *)to, (const int *)from, 60, 0, s));
    else if (number % 4 == 3)
        said(cudaMemsetAsync(to + 64, number, 100, s));
    else
        said(fuzz_launch(KERNEL_FILL, 2, 32, 0, (int *)to, NULL, 50, number, s));
}

/* What must not be done while a stream is captured, or may. */
static void trespass(int what, cudaStream_t s)
{
    static int words[16];
    void *ptr = NULL;
    switch (what) {
    case 0:
        said(cudaStreamSynchronize(s));
        break;
    case 1:
        said(cudaDeviceSynchronize());
        break;
    case 2:
        if (said(cudaMalloc(&ptr, 256)))
            said(cudaFree(ptr));
        break;
    case 3:
        said(cudaMemcpy(words, words + 8, 16, cudaMemcpyHostToHost));
        break;
    case 4:
        said(cudaStreamQuery(s));
        break;
    case 5:
        said(cudaStreamQuery(0));
        break;
    default:
        said(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    }
}

/* A fork to another stream of the same GPU and back; without `join` the way back is left out. Where
 * the capture never began all this runs at once, and is waited for: nothing else orders it. */
static void fork_and_join(struct graph *g, const int *a, cudaStream_t s, bool join, bool began)
{
    cudaStream_t other;
    cudaEvent_t out, back;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&out, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&back, cudaEventDisableTiming);
    said(cudaEventRecord(out, s));
    said(cudaStreamWaitEvent(other, out, 0));
    step(g, a[7] % 4 == 1 ? 2 : 3, a[0], a[6] % FUZZ_BUFFERS, other);
    said(cudaEventRecord(back, other));
    if (join)
        said(cudaStreamWaitEvent(s, back, 0));
    if (!began)
        cudaStreamSynchronize(other);
    cudaEventDestroy(out);
    cudaEventDestroy(back);
    cudaStreamDestroy(other);
}

static cudaGraph_t captured(struct graph *g, const int *a)
{
    cudaStream_t s;
    cudaGraph_t graph = NULL;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    bool began =
        said(cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)(a[5] ? a[3] % 4 : a[3] % 3)));
    for (int i = 0; i < STEPS; i++) {
        if (i == 1 && a[6] % 3 == 0)
            fork_and_join(g, a, s, !a[5], began);
        else
            step(g, a[6] >> (2 * i), a[0], (a[7] >> (3 * i)) % FUZZ_BUFFERS, s);
        if (i == 1 && a[5])
            trespass(a[8] % 7, s);
    }
    said(cudaStreamIsCapturing(s, &status));
    say(" status %d", status);
    said(cudaStreamEndCapture(s, &graph));
    if (graph == NULL || !began) /* steps ran at once, in streams that nobody else waits for */
        cudaDeviceSynchronize();
    cudaStreamDestroy(s);
    return graph;
}

static void build(const int *a)
{
    struct graph *g = &graphs[a[3] % FUZZ_GRAPHS];
    if (g->exec || !usable(a[0], state.device)) {
        say(" skip");
        return;
    }
    sync_all();
    *g = (struct graph){.device = state.device};
    cudaGraph_t graph = captured(g, a);
    size_t nodes = 0;
    if (graph == NULL) {
        say(" no graph");
        return;
    }
    said(cudaGraphGetNodes(graph, NULL, &nodes));
    say(" %zu nodes", nodes);
    if (!said(cudaGraphInstantiate(&g->exec, graph, 0)))
        g->exec = NULL;
    cudaGraphDestroy(graph);
}

static void launch(const int *a)
{
    struct graph *g = &graphs[a[3] % FUZZ_GRAPHS];
    struct fuzz_stream *s = stream_at(a[4]);
    if (!g->exec || device_of(s) != g->device) {
        say(" skip");
        return;
    }
    for (int i = 0; i < g->count; i++)
        if (!usable(g->buffers[i], g->device)) {
            say(" skip");
            return;
        }
    struct fuzz_touch t = touch_begin(lane_of(s));
    for (int i = 0; i < g->count; i++)
        touch_add(&t, &state.buffer[g->buffers[i]], true);
    touch_check(&t);
    touch_done(&t, said(cudaGraphLaunch(g->exec, s->handle)));
    state.used |= 1u << g->device;
}

void run_graph(const int *a)
{
    struct graph *g = &graphs[a[3] % FUZZ_GRAPHS];
    if (a[1] < 7) {
        build(a);
    } else if (a[1] < 14) {
        launch(a);
    } else {
        said(cudaGraphExecDestroy(g->exec));
        memset(g, 0, sizeof *g);
    }
}

void graphs_end(void)
{
    for (int i = 0; i < FUZZ_GRAPHS; i++)
        if (graphs[i].exec) {
            sync_all();
            cudaGraphExecDestroy(graphs[i].exec);
        }
    memset(graphs, 0, sizeof graphs);
}

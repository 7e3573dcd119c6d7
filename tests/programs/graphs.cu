// SPDX-License-Identifier: MIT
// graphs.cu: captured and explicit graphs over every GPU, launched several times.
#include "check.h"
#include <string.h>

enum { N = 1 << 12, LAUNCHES = 3 };

__global__ void add(int *values, int n, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] += what;
}

__global__ void sum(int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += from[i];
}

static int gpus;

static void expect(const int *values, int wanted, const char *what)
{
    for (int i = 0; i < N; i++)
        HOLDS(values[i] == wanted, "%s: [%d] is %d, not %d", what, i, values[i], wanted);
}

static void look(int gpu, const int *device, int wanted, const char *what)
{
    static int host[N];
    MUST(cudaSetDevice(gpu));
    MUST(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    expect(host, wanted, what);
}

// GPU 0 forks to all others, each adds its number plus 1 and sends its values, GPU 0 sums them up.
static void across()
{
    int *own[16], *inbox[16];
    cudaStream_t stream[16];
    cudaEvent_t begin, sent[16];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    for (int g = 0; g < gpus; g++) {
        MUST(cudaSetDevice(g));
        MUST(cudaMalloc((void **)&own[g], N * sizeof(int)));
        MUST(cudaMemset(own[g], 0, N * sizeof(int)));
        MUST(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
        MUST(cudaEventCreateWithFlags(&sent[g], cudaEventDisableTiming));
        MUST(cudaDeviceSynchronize());
    }
    MUST(cudaSetDevice(0));
    MUST(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
    for (int g = 0; g < gpus; g++)
        MUST(cudaMalloc((void **)&inbox[g], N * sizeof(int)));
    MUST(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    MUST(cudaEventRecord(begin, stream[0]));
    for (int g = 0; g < gpus; g++) {
        MUST(cudaSetDevice(g));
        if (g > 0)
            MUST(cudaStreamWaitEvent(stream[g], begin, 0));
        add<<<N / 256, 256, 0, stream[g]>>>(own[g], N, g + 1);
        MUST(cudaMemcpyAsync(inbox[g], own[g], N * sizeof(int), cudaMemcpyDefault, stream[g]));
        MUST(cudaEventRecord(sent[g], stream[g]));
    }
    MUST(cudaSetDevice(0));
    for (int g = 1; g < gpus; g++) {
        MUST(cudaStreamWaitEvent(stream[0], sent[g], 0));
        sum<<<N / 256, 256, 0, stream[0]>>>(inbox[0], inbox[g], N);
    }
    MUST(cudaStreamEndCapture(stream[0], &graph));
    look(gpus - 1, own[gpus - 1], 0, "capturing runs nothing");
    MUST(cudaSetDevice(0));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    for (int round = 1; round <= LAUNCHES; round++) {
        MUST(cudaGraphLaunch(exec, stream[0]));
        MUST(cudaStreamSynchronize(stream[0]));
        look(0, inbox[0], round * gpus * (gpus + 1) / 2, "sum of all GPUs");
    }
    MUST(cudaSetDevice(gpus - 1)); // from another GPU's stream, and without a wait between them
    for (int round = 0; round < LAUNCHES; round++)
        MUST(cudaGraphLaunch(exec, stream[gpus - 1]));
    MUST(cudaStreamSynchronize(stream[gpus - 1]));
    look(0, inbox[0], 2 * LAUNCHES * gpus * (gpus + 1) / 2, "launched from the last GPU");
    MUST(cudaGraphExecDestroy(exec));
    for (int g = 0; g < gpus; g++) {
        MUST(cudaFree(own[g]));
        MUST(cudaFree(inbox[g]));
        MUST(cudaStreamDestroy(stream[g]));
        MUST(cudaEventDestroy(sent[g]));
    }
    MUST(cudaEventDestroy(begin));
}

static int calls;
static void count(void *unused)
{
    (void)unused;
    calls++;
}

// What copies of pageable memory and host functions see is what is there at the launch.
static void host_side()
{
    static int from[N], to[N];
    int *device;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc((void **)&device, N * sizeof(int)));
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    MUST(cudaMemcpyAsync(device, from, sizeof from, cudaMemcpyHostToDevice, stream));
    add<<<N / 256, 256, 0, stream>>>(device, N, 5);
    MUST(cudaLaunchHostFunc(stream, count, NULL));
    MUST(cudaMemcpyAsync(to, device, sizeof to, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 1; round <= LAUNCHES; round++) {
        for (int i = 0; i < N; i++)
            from[i] = 100 * round;
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        expect(to, 100 * round + 5, "through pageable memory");
        HOLDS(calls == round, "%d calls", calls);
    }
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFree(device));
}

// Nothing but edges orders nodes: without the one before it, the copy may come at any time.
// `wanted`: what it is to find after each of two launches.
static void edges(int ordered, const int wanted[2])
{
    int *device, *host, n = N, what = 1;
    cudaGraph_t graph;
    cudaGraphNode_t set, kernel, back;
    cudaGraphExec_t exec;
    void *args[] = {&device, &n, &what};
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc((void **)&device, N * sizeof(int)));
    MUST(cudaMallocHost((void **)&host, N * sizeof(int)));
    MUST(cudaMemset(device, 0, N * sizeof(int)));
    MUST(cudaDeviceSynchronize());
    struct cudaMemsetParams m = {device, 0, 7, 4, N, 1};
    struct cudaKernelNodeParams k = {(void *)add, dim3(N / 256), dim3(256), 0, args, NULL};
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &m));
    MUST(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &k));
    MUST(cudaGraphAddMemcpyNode1D(&back, graph, &kernel, ordered ? 1 : 0, host, device,
                                  N * sizeof(int), cudaMemcpyDeviceToHost));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaDeviceSynchronize());
    int first = host[0];
    expect(host, wanted ? wanted[0] : first, ordered ? "with an edge" : "without an edge");
    what = 2;
    MUST(cudaGraphExecKernelNodeSetParams(exec, kernel, &k));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaDeviceSynchronize());
    expect(host, wanted ? wanted[1] : host[0], "with new arguments");
    if (!wanted)
        printf("%d %d\n", first, host[0]);
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaFree(device));
    MUST(cudaFreeHost(host));
}

// Many forks and joins: paths through the graph are far more than nodes.
static void forks()
{
    enum { FORKS = 200 };
    int *device, value;
    cudaStream_t stream, other;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc((void **)&device, 2 * sizeof(int)));
    MUST(cudaMemset(device, 0, 2 * sizeof(int)));
    MUST(cudaDeviceSynchronize());
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < FORKS; i++) {
        MUST(cudaEventRecord(forked, stream));
        MUST(cudaStreamWaitEvent(other, forked, 0));
        add<<<1, 1, 0, stream>>>(device, 1, 1);
        add<<<1, 1, 0, other>>>(device + 1, 1, 1);
        MUST(cudaEventRecord(joined, other));
        MUST(cudaStreamWaitEvent(stream, joined, 0));
    }
    sum<<<1, 1, 0, stream>>>(device, device + 1, 1);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0)); // as it was before CUDA 12
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaMemcpyAsync(&value, device, sizeof value, cudaMemcpyDeviceToHost, stream));
    HOLDS(value == 2 * FORKS, "%d forks: %d", FORKS, value);
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaEventDestroy(forked));
    MUST(cudaEventDestroy(joined));
    MUST(cudaStreamDestroy(stream));
    MUST(cudaStreamDestroy(other));
    MUST(cudaFree(device));
}

static void put(void *where)
{
    *(int *)where += 1;
}

static cudaGraph_t chain(int *device, int n, int what, int nodes)
{
    cudaGraph_t graph;
    cudaGraphNode_t node, before;
    void *args[] = {&device, &n, &what};
    struct cudaKernelNodeParams k = {(void *)add, dim3(n / 256), dim3(256), 0, args, NULL};
    MUST(cudaGraphCreate(&graph, 0));
    for (int i = 0; i < nodes; i++) {
        MUST(cudaGraphAddKernelNode(&node, graph, &before, i > 0 ? 1 : 0, &k));
        before = node;
    }
    return graph;
}

// An executable graph takes over what a graph of the same shape says, and nothing of another shape.
static void updates()
{
    int *device;
    cudaGraph_t graph, other, longer;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    MUST(cudaSetDevice(gpus - 1));
    MUST(cudaMalloc((void **)&device, N * sizeof(int)));
    MUST(cudaMemset(device, 0, N * sizeof(int)));
    graph = chain(device, N, 1, 2);
    other = chain(device, N, 10, 2);
    longer = chain(device, N, 100, 3);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaGraphExecUpdate(exec, other, &info));
    HOLDS(info.result == cudaGraphExecUpdateSuccess, "result %d", info.result);
    cudaGraphExecUpdateResult result = cudaGraphExecUpdateError;
    MUST(cudaGraphExecUpdate(exec, other, NULL, &result));
    HOLDS(result == cudaGraphExecUpdateSuccess, "result %d", result);
    MUST(cudaGraphLaunch(exec, 0));
    look(gpus - 1, device, 22, "updated");
    cudaError_t error = cudaGraphExecUpdate(exec, longer, &info);
    HOLDS(error == cudaErrorGraphExecUpdateFailure && !info.errorNode &&
              info.result == cudaGraphExecUpdateErrorTopologyChanged,
          "longer: %d, result %d", error, info.result);
    HOLDS(cudaGetLastError() == cudaErrorGraphExecUpdateFailure, "no last error");
    MUST(cudaGraphLaunch(exec, 0));
    look(gpus - 1, device, 42, "not updated");
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphDestroy(other));
    MUST(cudaGraphDestroy(longer));
    MUST(cudaFree(device));
}

// Each node's parameters by themselves; and a graph that is gone before it has run.
static void parameters()
{
    static int first, second;
    int *device, *host;
    cudaGraph_t graph;
    cudaGraphNode_t set, back, called;
    cudaGraphExec_t exec;
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc((void **)&device, 2 * N * sizeof(int)));
    MUST(cudaMallocHost((void **)&host, N * sizeof(int)));
    MUST(cudaMemset(device, 0, 2 * N * sizeof(int)));
    struct cudaMemsetParams m = {device, 0, 7, 4, N, 1};
    struct cudaHostNodeParams h = {put, &first};
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &m));
    MUST(cudaGraphAddMemcpyNode1D(&back, graph, &set, 1, host, device, N * sizeof(int),
                                  cudaMemcpyDeviceToHost));
    MUST(cudaGraphAddHostNode(&called, graph, &back, 1, &h));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    m.dst = device + N;
    m.value = 9;
    h.userData = &second;
    MUST(cudaGraphExecMemsetNodeSetParams(exec, set, &m));
    MUST(cudaGraphExecMemcpyNodeSetParams1D(exec, back, host, device + N, N * sizeof(int),
                                            cudaMemcpyDeviceToHost));
    MUST(cudaGraphExecHostNodeSetParams(exec, called, &h));
    HOLDS(cudaGraphExecMemsetNodeSetParams(exec, called, &m) == cudaErrorInvalidValue,
          "a host node is no memset node");
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaDeviceSynchronize());
    expect(host, 9, "with other parameters");
    HOLDS(first == 0 && second == 1, "called %d and %d times", first, second);
    m.value = 11;
    MUST(cudaGraphMemsetNodeSetParams(set, &m));
    MUST(cudaGraphMemcpyNodeSetParams1D(back, host, device + N, N * sizeof(int),
                                        cudaMemcpyDeviceToHost));
    MUST(cudaGraphHostNodeSetParams(called, &h));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaDeviceSynchronize());
    expect(host, 11, "with parameters of the graph");
    HOLDS(second == 2, "called %d times", second);
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaFree(device));
    MUST(cudaFreeHost(host));
}

// A graph of graphs, by hand and by capturing the launch of one: all of the child comes between
// what is before and what is after.
static void children(int captured)
{
    int *device, n = N, what = 5;
    cudaGraph_t graph, inner, outer, mine;
    cudaGraphNode_t before, node, after;
    cudaGraphNodeType type;
    cudaGraphExec_t exec, inner_exec;
    cudaStream_t stream;
    size_t count = 0;
    MUST(cudaSetDevice(gpus - 1));
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaMalloc((void **)&device, N * sizeof(int)));
    inner = chain(device, N, 1, 3);
    void *args[] = {&device, &n, &what};
    struct cudaMemsetParams m = {device, 0, 40, 4, N, 1};
    struct cudaKernelNodeParams k = {(void *)add, dim3(N / 256), dim3(256), 0, args, NULL};
    MUST(cudaGraphInstantiate(&inner_exec, inner, 0));
    if (captured) {
        MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        MUST(cudaMemsetAsync(device, 0, N * sizeof(int), stream));
        add<<<N / 256, 256, 0, stream>>>(device, N, 40);
        MUST(cudaGraphLaunch(inner_exec, stream));
        add<<<N / 256, 256, 0, stream>>>(device, N, what);
        MUST(cudaStreamEndCapture(stream, &graph));
    } else {
        MUST(cudaGraphCreate(&graph, 0));
        MUST(cudaGraphAddMemsetNode(&before, graph, NULL, 0, &m));
        MUST(cudaGraphAddChildGraphNode(&node, graph, &before, 1, inner));
        MUST(cudaGraphAddKernelNode(&after, graph, &node, 1, &k));
        MUST(cudaGraphChildGraphNodeGetGraph(node, &mine));
        MUST(cudaGraphGetNodes(mine, NULL, &count));
        MUST(cudaGraphNodeGetType(node, &type));
        HOLDS(mine != inner && count == 3 && type == cudaGraphNodeTypeGraph, "%zu nodes", count);
    }
    MUST(cudaGraphExecDestroy(inner_exec));
    MUST(cudaGraphDestroy(inner));
    MUST(cudaGraphCreate(&outer, 0)); // and once more
    MUST(cudaGraphAddChildGraphNode(&node, outer, NULL, 0, graph));
    MUST(cudaGraphAddKernelNode(&after, outer, &node, 1, &k));
    MUST(cudaGraphInstantiate(&exec, outer, 0));
    cudaGraphExecUpdateResultInfo info;
    MUST(cudaGraphExecUpdate(exec, outer, &info));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphDestroy(outer));
    for (int round = 0; round < LAUNCHES; round++) {
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        look(gpus - 1, device, 40 + 3 + 2 * what, captured ? "captured child" : "child");
    }
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFree(device));
}

// A node that was destroyed is no node any more.
static void gone()
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
    MUST(cudaGraphDestroyNode(node));
    HOLDS(cudaGraphDestroyNode(node) == cudaErrorInvalidValue, "%s", "destroyed twice");
    cudaGetLastError();
    MUST(cudaGraphDestroy(graph));
}

#define REFUSED(call)                                                                              \
    do {                                                                                           \
        HOLDS((call) == cudaErrorInvalidValue, "%s", #call);                                       \
        cudaGetLastError();                                                                        \
    } while (0)

// Whose a graph is, and what is named twice.
static void refused()
{
    cudaGraph_t graph, inner, child;
    cudaGraphNode_t a, b, node;
    cudaStream_t stream;
    size_t edges;
    MUST(cudaSetDevice(0));
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphCreate(&inner, 0));
    MUST(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    const cudaGraphNode_t twice[] = {a, a};
    REFUSED(cudaGraphAddEmptyNode(&b, graph, twice, 2));
    MUST(cudaGraphAddEmptyNode(&b, graph, NULL, 0));
    const cudaGraphNode_t both[] = {b, b};
    REFUSED(cudaGraphAddDependencies(graph, twice, both, NULL, 2));
    MUST(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    HOLDS(edges == 0, "%zu edges", edges);
    MUST(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, inner));
    MUST(cudaGraphChildGraphNodeGetGraph(node, &child));
    REFUSED(cudaGraphDestroy(child));
    MUST(cudaGraphDestroy(inner));
    MUST(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, cudaStreamCaptureModeRelaxed));
    REFUSED(cudaGraphDestroy(graph));
    REFUSED(cudaGraphDestroyNode(a));
    MUST(cudaStreamEndCapture(stream, &inner));
    MUST(cudaGraphDestroyNode(a));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(stream));
}

// Copies and fills of nothing are nodes, too, whose parameters can be asked for.
static void nothing()
{
    char *device, *host;
    size_t count;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphNode_t node[2];
    cudaMemcpy3DParms p;
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    MUST(cudaMalloc((void **)&device, N));
    MUST(cudaMallocHost((void **)&host, N));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(cudaMemcpy2DAsync(device, 64, host, 64, 16, 0, cudaMemcpyDefault, stream));
    MUST(cudaMemcpy2DAsync(device, 64, host, 64, 0, 4, cudaMemcpyDefault, stream));
    MUST(cudaStreamEndCapture(stream, &graph));
    count = 2;
    MUST(cudaGraphGetNodes(graph, node, &count));
    for (size_t i = 0; i < count; i++) {
        MUST(cudaGraphMemcpyNodeGetParams(node[i], &p));
        HOLDS(p.extent.width * p.extent.height == 0, "%zu bytes", p.extent.width);
    }
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(stream));
    MUST(cudaFree(device));
    MUST(cudaFreeHost(host));
}

int main(int argc, char **argv)
{
    const int wanted[] = {8, 9};
    if (argc > 1 && strcmp(argv[1], "unordered") == 0) {
        edges(0, NULL);
        return 0;
    }
    MUST(cudaGetDeviceCount(&gpus));
    across();
    host_side();
    edges(1, wanted);
    forks();
    updates();
    parameters();
    children(0);
    children(1);
    gone();
    refused();
    nothing();
    printf("graphs on %d GPUs: right\n", gpus);
    return 0;
}

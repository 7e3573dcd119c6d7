// SPDX-License-Identifier: MIT
// graphs.cu: what a real machine answers to captures, graphs and host functions. Each case runs in
// its own process; the program for graphs.txt.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#define R(x) say(#x, (x))
static void say(const char *what, cudaError_t e)
{
    printf("    %-90s -> %d %s\n", what, (int)e, cudaGetErrorName(e));
    fflush(stdout);
}
#define V(fmt, ...)                                                                                \
    do {                                                                                           \
        printf("    " fmt "\n", __VA_ARGS__);                                                      \
        fflush(stdout);                                                                            \
    } while (0)

__global__ void add(int *p, int n, int v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] += v;
}
__global__ void twice(int *p)
{
    *p *= 2;
}

static int peek(int *d)
{
    int v = -12345;
    cudaMemcpy(&v, d, 4, cudaMemcpyDefault);
    return v;
}

static void capturing(cudaStream_t s)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaError_t e = cudaStreamIsCapturing(s, &status);
    V("capturing: %d (%d)", (int)status, (int)e);
}

static cudaStream_t stream()
{
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    return s;
}

static void c_linear()
{
    int *d;
    cudaMalloc(&d, 4096);
    cudaMemset(d, 0, 4096);
    cudaDeviceSynchronize();
    cudaStream_t s = stream();
    cudaGraph_t g;
    cudaGraphExec_t x;
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    capturing(s);
    add<<<4, 256, 0, s>>>(d, 1024, 1);
    R(cudaGetLastError());
    twice<<<1, 1, 0, s>>>(d);
    R(cudaMemsetAsync(d + 1, 5, 4, s));
    R(cudaStreamEndCapture(s, &g));
    capturing(s);
    V("nothing has run: %d", peek(d));
    size_t n = 0;
    R(cudaGraphGetNodes(g, NULL, &n));
    V("nodes %zu", n);
    R(cudaGraphInstantiate(&x, g, 0));
    R(cudaGraphDestroy(g));
    R(cudaGraphLaunch(x, s));
    R(cudaGraphLaunch(x, s));
    R(cudaStreamSynchronize(s));
    V("d[0]=%d d[1]=%x d[2]=%d", peek(d), peek(d + 1), peek(d + 2));
    R(cudaGraphExecDestroy(x));
}

static void c_states()
{
    cudaStream_t s = stream(), t = stream();
    cudaGraph_t g = NULL;
    R(cudaStreamEndCapture(s, &g));
    R(cudaGetLastError());
    R(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    R(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)7));
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    R(cudaStreamEndCapture(t, &g));
    R(cudaStreamEndCapture(s, &g));
    V("graph %d", g != NULL);
    size_t n = 9;
    R(cudaGraphGetNodes(g, NULL, &n));
    V("nodes %zu", n);
    cudaGraphExec_t x;
    R(cudaGraphInstantiate(&x, g, 0));
    R(cudaGraphLaunch(x, 0));
    R(cudaDeviceSynchronize());
    R(cudaGraphLaunch(NULL, s));
    R(cudaGraphDestroy(NULL));
    R(cudaGraphExecDestroy(NULL));
    R(cudaGraphInstantiate(&x, NULL, 0));
}

static void illegal(const char *name, const char *mode, cudaError_t (*call)(cudaStream_t),
                    cudaStreamCaptureMode m)
{
    cudaStream_t s = stream();
    cudaGraph_t g = NULL;
    cudaStreamBeginCapture(s, m);
    cudaError_t e = call(s), last = cudaGetLastError();
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(s, &status);
    cudaError_t end = cudaStreamEndCapture(s, &g);
    cudaGetLastError();
    V("%s, %s: %d, last %d, status %d, end %d, graph %d", name, mode, (int)e, (int)last,
      (int)status, (int)end, g != NULL);
    cudaStreamDestroy(s);
}

static int *memory, *host;
static cudaEvent_t recorded, fresh;
static cudaStream_t other;

static cudaError_t sync_stream(cudaStream_t s)
{
    return cudaStreamSynchronize(s);
}
static cudaError_t query_stream(cudaStream_t s)
{
    return cudaStreamQuery(s);
}
static cudaError_t sync_device(cudaStream_t)
{
    return cudaDeviceSynchronize();
}
static cudaError_t allocate(cudaStream_t)
{
    void *p;
    return cudaMalloc(&p, 64);
}
static cudaError_t allocate_host(cudaStream_t)
{
    void *p;
    return cudaMallocHost(&p, 64);
}
static cudaError_t release(cudaStream_t)
{
    int *p = memory;
    memory = NULL;
    return cudaFree(p);
}
static cudaError_t copy_sync(cudaStream_t)
{
    return cudaMemcpy(host, host + 8, 4, cudaMemcpyDefault);
}
static cudaError_t copy_device(cudaStream_t)
{
    return cudaMemcpy(memory, host, 4, cudaMemcpyDefault);
}
static cudaError_t set_sync(cudaStream_t)
{
    return cudaMemset(memory, 0, 4);
}
static cudaError_t legacy(cudaStream_t)
{
    return cudaMemsetAsync(memory, 0, 4, 0);
}
static cudaError_t legacy_kernel(cudaStream_t)
{
    twice<<<1, 1>>>(memory);
    return cudaGetLastError();
}
static cudaError_t other_stream(cudaStream_t)
{
    return cudaMemsetAsync(memory, 0, 4, other);
}
static cudaError_t wait_old(cudaStream_t s)
{
    return cudaStreamWaitEvent(s, recorded, 0);
}
static cudaError_t wait_fresh(cudaStream_t s)
{
    return cudaStreamWaitEvent(s, fresh, 0);
}
static cudaError_t sync_captured(cudaStream_t s)
{
    cudaEventRecord(fresh, s);
    return cudaEventSynchronize(fresh);
}
static cudaError_t query_captured(cudaStream_t s)
{
    cudaEventRecord(fresh, s);
    return cudaEventQuery(fresh);
}
static cudaError_t sync_other(cudaStream_t)
{
    return cudaStreamSynchronize(other);
}
static cudaError_t create_stream(cudaStream_t)
{
    cudaStream_t t;
    return cudaStreamCreate(&t);
}
static cudaError_t create_event(cudaStream_t)
{
    cudaEvent_t e;
    return cudaEventCreate(&e);
}
static cudaError_t pageable(cudaStream_t s)
{
    static int there;
    return cudaMemcpyAsync(memory, &there, 4, cudaMemcpyHostToDevice, s);
}
static cudaError_t pinned(cudaStream_t s)
{
    return cudaMemcpyAsync(memory, host, 4, cudaMemcpyHostToDevice, s);
}
static cudaError_t async_memory(cudaStream_t s)
{
    void *p;
    return cudaMallocAsync(&p, 64, s);
}
static cudaError_t get_info(cudaStream_t)
{
    size_t f, t;
    return cudaMemGetInfo(&f, &t);
}
static cudaError_t destroy(cudaStream_t s)
{
    return cudaStreamDestroy(s);
}
static cudaError_t elapsed(cudaStream_t)
{
    float ms;
    return cudaEventElapsedTime(&ms, recorded, recorded);
}
static void nothing(void *) {}
static cudaError_t host_function(cudaStream_t s)
{
    return cudaLaunchHostFunc(s, nothing, NULL);
}
static void callback(cudaStream_t, cudaError_t, void *) {}
static cudaError_t add_callback(cudaStream_t s)
{
    return cudaStreamAddCallback(s, callback, NULL, 0);
}
static cudaError_t bad_launch(cudaStream_t s)
{
    twice<<<1, 2048, 0, s>>>(memory);
    return cudaGetLastError();
}
static cudaError_t peer_copy(cudaStream_t s)
{
    return cudaMemcpyPeerAsync(memory, 0, memory + 8, 0, 4, s);
}

static void c_illegal()
{
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreate(&recorded);
    cudaEventCreate(&fresh);
    cudaMallocHost(&host, 64);
    cudaEventRecord(recorded, other);
    cudaDeviceSynchronize();
    struct {
        const char *name;
        cudaError_t (*call)(cudaStream_t);
    } calls[] = {{"StreamSynchronize", sync_stream},
                 {"StreamQuery", query_stream},
                 {"DeviceSynchronize", sync_device},
                 {"Malloc", allocate},
                 {"MallocHost", allocate_host},
                 {"Memcpy host to host", copy_sync},
                 {"Memcpy host to device", copy_device},
                 {"Memset", set_sync},
                 {"MemsetAsync legacy", legacy},
                 {"kernel legacy", legacy_kernel},
                 {"MemsetAsync other stream", other_stream},
                 {"wait for an event from outside", wait_old},
                 {"wait for an event never recorded", wait_fresh},
                 {"EventSynchronize captured", sync_captured},
                 {"EventQuery captured", query_captured},
                 {"StreamSynchronize other", sync_other},
                 {"StreamCreate", create_stream},
                 {"EventCreate", create_event},
                 {"MemcpyAsync pageable", pageable},
                 {"MemcpyAsync pinned", pinned},
                 {"MallocAsync", async_memory},
                 {"MemGetInfo", get_info},
                 {"ElapsedTime", elapsed},
                 {"LaunchHostFunc", host_function},
                 {"AddCallback", add_callback},
                 {"launch of 2048 threads", bad_launch},
                 {"MemcpyPeerAsync", peer_copy},
                 {"Free", release}};
    for (auto &c : calls) {
        if (!memory)
            cudaMalloc(&memory, 4096);
        illegal(c.name, "global", c.call, cudaStreamCaptureModeGlobal);
        if (!memory)
            cudaMalloc(&memory, 4096);
        cudaEventDestroy(fresh);
        cudaEventCreate(&fresh);
        illegal(c.name, "thread local", c.call, cudaStreamCaptureModeThreadLocal);
        if (!memory)
            cudaMalloc(&memory, 4096);
        cudaEventDestroy(fresh);
        cudaEventCreate(&fresh);
        illegal(c.name, "relaxed", c.call, cudaStreamCaptureModeRelaxed);
        cudaEventDestroy(fresh);
        cudaEventCreate(&fresh);
    }
    (void)destroy;
}

static void c_blocking()
{
    cudaStream_t s;
    cudaGraph_t g = NULL;
    int *d;
    cudaMalloc(&d, 64);
    cudaStreamCreate(&s);
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    R(cudaMemsetAsync(d, 0, 4, 0));
    capturing(s);
    R(cudaStreamEndCapture(s, &g));
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    R(cudaStreamSynchronize(0));
    R(cudaDeviceSynchronize());
    R(cudaStreamEndCapture(s, &g));
}

static void c_fork()
{
    cudaStream_t s = stream(), t = stream();
    cudaEvent_t fork, join;
    cudaGraph_t g = NULL;
    cudaGraphExec_t x;
    int *d;
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    cudaMalloc(&d, 64);
    cudaMemset(d, 0, 64);
    cudaDeviceSynchronize();
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, s>>>(d, 1, 1);
    R(cudaEventRecord(fork, s));
    R(cudaStreamWaitEvent(t, fork, 0));
    capturing(t);
    add<<<1, 1, 0, t>>>(d + 1, 1, 2);
    add<<<1, 1, 0, s>>>(d + 2, 1, 3);
    R(cudaEventRecord(join, t));
    R(cudaStreamWaitEvent(s, join, 0));
    add<<<1, 3, 0, s>>>(d, 3, 10);
    R(cudaStreamEndCapture(s, &g));
    capturing(t);
    size_t nodes = 0, edges = 0;
    R(cudaGraphGetNodes(g, NULL, &nodes));
    cudaGraphGetEdges(g, NULL, NULL, NULL, &edges);
    V("nodes %zu edges %zu", nodes, edges);
    R(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 3; i++)
        R(cudaGraphLaunch(x, s));
    R(cudaStreamSynchronize(s));
    V("%d %d %d", peek(d), peek(d + 1), peek(d + 2));
    R(cudaEventSynchronize(join));
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    R(cudaEventRecord(fork, s));
    R(cudaStreamWaitEvent(t, fork, 0));
    add<<<1, 1, 0, t>>>(d, 1, 1);
    R(cudaStreamEndCapture(s, &g));
    capturing(t);
    V("graph %d", g != NULL);
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    R(cudaEventRecord(fork, s));
    R(cudaStreamWaitEvent(t, fork, 0));
    R(cudaStreamEndCapture(t, &g));
    R(cudaStreamEndCapture(s, &g));
}

static void c_explicit()
{
    int *d, *h;
    cudaMalloc(&d, 64);
    cudaMallocHost(&h, 64);
    memset(h, 0, 64);
    h[0] = 5;
    cudaGraph_t g;
    cudaGraphNode_t copy, kernel, set, back, empty, found[8];
    cudaGraphExec_t x;
    R(cudaGraphCreate(&g, 0));
    R(cudaGraphCreate(&g, 1));
    R(cudaGraphAddMemcpyNode1D(&copy, g, NULL, 0, d, h, 8, cudaMemcpyHostToDevice));
    int n = 1, v = 3;
    void *args[] = {&d, &n, &v};
    cudaKernelNodeParams p = {};
    p.func = (void *)add;
    p.gridDim = dim3(1);
    p.blockDim = dim3(32);
    p.kernelParams = args;
    R(cudaGraphAddKernelNode(&kernel, g, &copy, 1, &p));
    cudaMemsetParams m = {};
    m.dst = d + 1;
    m.value = 7;
    m.elementSize = 4;
    m.width = 1;
    m.height = 1;
    R(cudaGraphAddMemsetNode(&set, g, &copy, 1, &m));
    cudaGraphNode_t both[] = {kernel, set};
    R(cudaGraphAddEmptyNode(&empty, g, both, 2));
    R(cudaGraphAddMemcpyNode1D(&back, g, &empty, 1, h + 4, d, 8, cudaMemcpyDeviceToHost));
    R(cudaGraphAddDependencies(g, &copy, &back, NULL, 1));
    R(cudaGraphAddDependencies(g, &copy, &back, NULL, 1));
    size_t count = 8;
    R(cudaGraphGetNodes(g, found, &count));
    V("%zu nodes, the first %d", count, found[0] == copy);
    R(cudaGraphGetEdges(g, NULL, NULL, NULL, &count));
    V("%zu edges", count);
    R(cudaGraphGetRootNodes(g, found, &count));
    V("%zu roots", count);
    cudaGraphNodeType type;
    R(cudaGraphNodeGetType(set, &type));
    V("type %d", (int)type);
    R(cudaGraphInstantiate(&x, g, 0));
    v = 100;
    R(cudaGraphLaunch(x, 0));
    R(cudaDeviceSynchronize());
    V("%d %d", h[4], h[5]);
    R(cudaGraphExecKernelNodeSetParams(x, kernel, &p));
    R(cudaGraphLaunch(x, 0));
    R(cudaDeviceSynchronize());
    V("%d %d", h[4], h[5]);
    R(cudaGraphAddDependencies(g, &back, &copy, NULL, 1));
    cudaGraphExec_t y = NULL;
    R(cudaGraphInstantiate(&y, g, 0));
    R(cudaGraphDestroyNode(back));
    R(cudaGraphGetNodes(g, NULL, &count));
    V("%zu nodes", count);
    p.blockDim = dim3(4096);
    R(cudaGraphAddKernelNode(&kernel, g, NULL, 0, &p));
    p.func = NULL;
    R(cudaGraphAddKernelNode(&kernel, g, NULL, 0, &p));
}

static cudaError_t inside = cudaSuccess;
static int times;
static void in_host(void *)
{
    void *p;
    times++;
    inside = cudaMalloc(&p, 64);
}

static void c_host()
{
    cudaStream_t s = stream();
    R(cudaLaunchHostFunc(s, in_host, NULL));
    R(cudaStreamSynchronize(s));
    V("inside: %d, called %d", (int)inside, times);
    R(cudaLaunchHostFunc(s, NULL, NULL));
    R(cudaStreamAddCallback(s, NULL, NULL, 0));
    R(cudaStreamAddCallback(s, callback, NULL, 1));
    cudaGraph_t g;
    cudaGraphExec_t x;
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    R(cudaLaunchHostFunc(s, in_host, NULL));
    R(cudaStreamEndCapture(s, &g));
    R(cudaGraphInstantiate(&x, g, 0));
    R(cudaGraphLaunch(x, s));
    R(cudaGraphLaunch(x, s));
    R(cudaStreamSynchronize(s));
    V("called %d", times);
}

struct Case {
    const char *n;
    void (*f)();
};
#define C(x)                                                                                       \
    {                                                                                              \
#x, c_##x                                                                                  \
    }
static Case cases[] = {C(linear), C(states),   C(illegal), C(blocking),
                       C(fork),   C(explicit), C(host)};

int main()
{
    for (auto &c : cases) {
        printf("[%s]\n", c.n);
        fflush(stdout);
        pid_t p = fork();
        if (!p) {
            alarm(40);
            c.f();
            fflush(stdout);
            _exit(0);
        }
        int st;
        waitpid(p, &st, 0);
        if (WIFSIGNALED(st))
            printf("    (killed by signal %d)\n", WTERMSIG(st));
        fflush(stdout);
    }
}

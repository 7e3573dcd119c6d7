/* SPDX-License-Identifier: MIT
 * replay_memory.cpp: recorded cases about memory, copies, streams and events that need no kernel.
 * The calls and their order are the recording's.
 *
 *     api-replay-memory CASE tests/recorded/hgx-h200-4
 */
#include "replay.h"

static const char needs_kernel[] = "needs a kernel";
static const char not_modelled[] = "not modelled yet";

static int peek(const void *d)
{
    int v = -12345;
    cudaMemcpy(&v, d, 4, cudaMemcpyDefault);
    return v;
}

/* ---- memory ---- */

static void c_malloc()
{
    void *p = (void *)1, *q;
    int h;
    size_t f, t;
    R(cudaMalloc(&p, 0));
    V("p==null %d", p == nullptr);
    R(cudaMalloc(&p, (size_t)1 << 50));
    R(cudaGetLastError());
    R(cudaGetLastError());
    R(cudaMalloc(&p, 1));
    R(cudaMalloc(&q, 1));
    V("spacing=%ld align512=%d", (long)((char *)q - (char *)p), (int)((size_t)p % 512));
    R(cudaFree(nullptr));
    R(cudaFree(p));
    R(cudaFree(p));
    R(cudaGetLastError());
    R(cudaFree(&h));
    R(cudaFree((char *)q + 4));
    cudaSetDevice(1);
    R(cudaFree(q));
    R(cudaMalloc(nullptr, 16));
    R(cudaMemGetInfo(&f, &t));
    V("total=%zu", t);
}

static void c_small_spacing()
{
    char *p[6];
    size_t sz[6] = {1, 512, 513, 1 << 20, (2 << 20) + 1, 1};
    for (int i = 0; i < 6; i++) {
        cudaMalloc(&p[i], sz[i]);
        V("size %zu offset in 2MiB %zu align512 %d", sz[i], (size_t)p[i] % (2 << 20),
          (int)((size_t)p[i] % 512));
    }
}

static void c_devptr_on_host()
{
    int *b;
    cudaMalloc(&b, 4096);
    V("%s", "dereferencing on the host");
    volatile int x = *b;
    V("read %d", x);
}

static void c_hostptr_in_kernel()
{
    int v = -1;
    SKIP(2, needs_kernel);
    cudaDeviceGetAttribute(&v, cudaDevAttrPageableMemoryAccess, 0);
    V("pageableMemoryAccess=%d", v);
    cudaDeviceGetAttribute(&v, cudaDevAttrConcurrentManagedAccess, 0);
    V("concurrentManagedAccess=%d", v);
}

static void show_attributes(const char *name, const void *q)
{
    cudaPointerAttributes t;
    memset(&t, 0xff, sizeof t);
    cudaError_t e = cudaPointerGetAttributes(&t, q);
    V("%s: err=%d type=%d device=%d dev==ptr %d host==ptr %d host==null %d", name, e, t.type,
      t.device, t.devicePointer == q, t.hostPointer == q, t.hostPointer == nullptr);
}

static void c_ptrattr()
{
    int *a, *p, h;
    cudaPointerAttributes t;
    cudaSetDevice(1);
    cudaMalloc(&a, 4096);
    cudaMallocHost(&p, 4096);
    cudaSetDevice(0);
    show_attributes("device1", a);
    show_attributes("device1+40", a + 10);
    show_attributes("pinned", p);
    SKIP(1, not_modelled);
    show_attributes("stack", &h);
    show_attributes("null", nullptr);
    cudaFree(a);
    memset(&t, 0xff, sizeof t);
    cudaError_t e = cudaPointerGetAttributes(&t, a);
    V("freed: err=%d type=%d", e, t.type);
}

static void c_host()
{
    int *p, *dp, *q;
    R(cudaHostAlloc(&p, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
    R(cudaHostGetDevicePointer(&dp, p, 0));
    V("same %d", p == dp);
    *p = 77;
    SKIP(4, needs_kernel);
    R(cudaFreeHost(p));
    R(cudaFreeHost(p));
    R(cudaGetLastError());
    SKIP(8, not_modelled);
    R(cudaFree(p));
    cudaMallocHost(&q, 64);
    R(cudaFree(q));
}

static void c_reset()
{
    int *a;
    cudaMalloc(&a, 64);
    R(cudaDeviceReset());
    R(cudaFree(a));
    R(cudaGetLastError());
    R(cudaMalloc(&a, 64));
    R(cudaDeviceSynchronize());
}

/* ---- copies ---- */

static void fill(int *device, int value)
{
    int h[1024];
    for (int &x : h)
        x = value;
    cudaMemcpy(device, h, sizeof h, cudaMemcpyHostToDevice);
}

static void c_copypeer_noenable()
{
    int *a, *b, h;
    cudaSetDevice(0);
    R(cudaMalloc(&a, 4096));
    fill(a, 42);
    cudaSetDevice(1);
    R(cudaMalloc(&b, 4096));
    R(cudaMemset(b, 0, 4096));
    R(cudaMemcpyPeer(b, 1, a, 0, 4096));
    V("b[0]=%d", peek(b));
    R(cudaMemset(b, 0, 4096));
    R(cudaMemcpy(b, a, 4096, cudaMemcpyDefault));
    V("b[0]=%d", peek(b));
    R(cudaMemset(b, 0, 4096));
    R(cudaMemcpy(b, a, 4096, cudaMemcpyDeviceToDevice));
    V("b[0]=%d", peek(b));
    R(cudaMemset(b, 0, 4096));
    R(cudaMemcpyPeer(b, 0, a, 1, 4096));
    V("wrong ids b[0]=%d", peek(b));
    R(cudaMemcpyPeer(b, 1, a, 99, 4096));
    R(cudaMemcpyPeer(b, 1, nullptr, 0, 4096));
    R(cudaMemcpyPeer(b, 1, a, 0, 0));
    R(cudaMemcpyPeer(b, 1, a, 0, 1 << 30));
    R(cudaGetLastError());
    R(cudaMemcpyPeer(b, 1, &h, 0, 4));
}

static void c_memcpy()
{
    int *a;
    cudaMalloc(&a, 4096);
    int h[1024] = {0};
    R(cudaMemcpy(a, h, 4096, cudaMemcpyHostToDevice));
    R(cudaMemcpy(a, h, 4100, cudaMemcpyHostToDevice));
    R(cudaMemcpy(a, h, 8 << 20, cudaMemcpyHostToDevice));
    R(cudaGetLastError());
    R(cudaMemcpy(h, a, 4096, cudaMemcpyHostToDevice));
    R(cudaMemcpy(a, h, 4096, cudaMemcpyDeviceToHost));
    R(cudaMemcpy(a, h, 4096, cudaMemcpyDeviceToDevice));
    R(cudaMemcpy(h, h + 512, 2048, cudaMemcpyHostToHost));
    R(cudaMemcpy(a, h, 16, (cudaMemcpyKind)9));
    R(cudaMemcpy(nullptr, h, 16, cudaMemcpyHostToDevice));
    R(cudaMemcpy(a, nullptr, 16, cudaMemcpyHostToDevice));
    R(cudaMemcpy(a, h, 0, cudaMemcpyHostToDevice));
    R(cudaMemset(a, 0, 8 << 20));
    R(cudaMemset(h, 0, 16));
    R(cudaMemset(nullptr, 0, 16));
    SKIP(3, "needs a device variable");
    R(cudaDeviceSynchronize());
}

static void c_memset_other()
{
    int *a0, *a1;
    cudaStream_t s1;
    cudaSetDevice(0);
    cudaMalloc(&a0, 64);
    cudaSetDevice(1);
    cudaMalloc(&a1, 64);
    cudaStreamCreate(&s1);
    cudaSetDevice(0);
    R(cudaMemset(a1, 1, 64));
    R(cudaMemsetAsync(a1, 1, 64, s1));
    R(cudaMemsetAsync(a0, 1, 64, s1));
    R(cudaMemsetAsync(a1, 1, 64, 0));
    R(cudaMemcpyAsync(a0, a1, 64, cudaMemcpyDeviceToDevice, s1));
    R(cudaStreamSynchronize(s1));
    R(cudaDeviceSynchronize());
}

/* ---- streams and events ---- */

static void c_stream_wrongdev()
{
    cudaStream_t s0, s1;
    cudaEvent_t e0, e1;
    int *a, *b, h[4];
    float ms;
    cudaSetDevice(1);
    R(cudaStreamCreate(&s1));
    R(cudaEventCreate(&e1));
    cudaSetDevice(0);
    R(cudaEventCreate(&e0));
    SKIP(1, needs_kernel);
    R(cudaMalloc(&a, 4096));
    R(cudaMemcpyAsync(h, a, 16, cudaMemcpyDeviceToHost, s1));
    R(cudaMemsetAsync(a, 0, 16, s1));
    R(cudaEventRecord(e0, s1));
    R(cudaGetLastError());
    R(cudaEventRecord(e1, s1));
    R(cudaEventRecord(e0, 0));
    R(cudaStreamWaitEvent(s1, e0, 0));
    R(cudaStreamSynchronize(s1));
    R(cudaEventElapsedTime(&ms, e0, e1));
    R(cudaStreamQuery(s1));
    R(cudaStreamDestroy(s1));
    cudaSetDevice(1);
    R(cudaMalloc(&b, 4096));
    cudaSetDevice(0);
    R(cudaStreamCreate(&s0));
    R(cudaMemcpyPeerAsync(b, 1, a, 0, 4096, s0));
    cudaSetDevice(1);
    R(cudaMemcpyPeerAsync(b, 1, a, 0, 4096, s0));
    R(cudaMemcpyAsync(b, a, 4096, cudaMemcpyDefault, s0));
    R(cudaStreamSynchronize(s0));
    R(cudaEventSynchronize(e0));
    R(cudaGetLastError());
}

static void c_events()
{
    cudaEvent_t a, b, n, unrec;
    cudaStream_t s;
    float ms;
    R(cudaEventCreate(&a));
    R(cudaEventCreate(&b));
    R(cudaEventCreateWithFlags(&n, cudaEventDisableTiming));
    R(cudaEventElapsedTime(&ms, a, b));
    R(cudaEventQuery(a));
    R(cudaEventSynchronize(a));
    R(cudaEventRecord(a));
    R(cudaEventRecord(b));
    SKIP(3, needs_kernel);
    R(cudaEventSynchronize(b));
    R(cudaEventElapsedTime(&ms, a, b));
    SKIP(1, needs_kernel);
    R(cudaEventRecord(n));
    R(cudaEventSynchronize(n));
    R(cudaEventElapsedTime(&ms, a, n));
    R(cudaEventDestroy(a));
    R(cudaStreamWaitEvent(0, b, 0));
    R(cudaStreamCreate(&s));
    R(cudaEventCreate(&unrec));
    R(cudaStreamWaitEvent(s, unrec, 0));
    R(cudaStreamSynchronize(s));
    R(cudaEventCreateWithFlags(&n, cudaEventInterprocess));
    R(cudaEventCreateWithFlags(&n, cudaEventInterprocess | cudaEventDisableTiming));
}

static void c_event_misc()
{
    cudaEvent_t e;
    cudaEventCreate(&e);
    cudaSetDevice(1);
    R(cudaEventRecord(e, 0));
    R(cudaStreamWaitEvent(0, e, 0));
    R(cudaEventQuery(e));
    cudaSetDevice(0);
    R(cudaEventRecord(e, 0));
    cudaSetDevice(1);
    SKIP(3, needs_kernel);
    R(cudaEventSynchronize(e));
    R(cudaDeviceSynchronize());
    R(cudaEventRecordWithFlags(e, 0, 7));
    R(cudaStreamWaitEvent(0, e, 9));
    R(cudaEventDestroy(0));
    R(cudaStreamDestroy(0));
}

static void c_legacy_default()
{
    cudaStream_t s, n;
    R(cudaStreamCreate(&s));
    R(cudaStreamCreateWithFlags(&n, cudaStreamNonBlocking));
    SKIP(7, needs_kernel);
    R(cudaStreamDestroy(s));
    R(cudaStreamSynchronize(cudaStreamPerThread));
    R(cudaStreamSynchronize(cudaStreamLegacy));
}

#define C(name)                                                                                    \
    {                                                                                              \
#name, c_##name                                                                            \
    }
static const replay_case cases[] = {C(malloc),
                                    C(small_spacing),
                                    C(ptrattr),
                                    C(host),
                                    C(reset),
                                    C(devptr_on_host),
                                    C(hostptr_in_kernel),
                                    C(memcpy),
                                    C(copypeer_noenable),
                                    C(memset_other),
                                    C(stream_wrongdev),
                                    C(events),
                                    C(event_misc),
                                    C(legacy_default)};

int main(int argc, char **argv)
{
    return replay_main(argc, argv, cases, (int)(sizeof cases / sizeof cases[0]));
}

/* SPDX-License-Identifier: MIT
 * replay_devices.cpp: recorded cases about devices, their visibility, peers and forked processes.
 * The calls and their order are the recording's.
 *
 *     api-replay-devices CASE tests/recorded/hgx-h200-4
 */
#include "replay.h"

#include <cstdlib>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static const char needs_kernel[] = "needs a kernel";

/* ---- devices ---- */

static void c_count()
{
    int n = -1, d = -1;
    R(cudaGetDeviceCount(&n));
    V("count=%d", n);
    R(cudaGetDevice(&d));
    V("dev=%d", d);
    R(cudaGetDeviceCount(nullptr));
}

static void c_attrs()
{
    int v, drv, rt;
    char bus[64];
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    V("name %s cc %d.%d sms %d mem %zu l2 %d smem/block %zu optin %zu warp %d maxthr %d bus %d "
      "uva %d ecc %d multiGpuBoard %d asyncEngines %d canMapHost %d",
      p.name, p.major, p.minor, p.multiProcessorCount, p.totalGlobalMem, p.l2CacheSize,
      p.sharedMemPerBlock, p.sharedMemPerBlockOptin, p.warpSize, p.maxThreadsPerBlock,
      p.memoryBusWidth, p.unifiedAddressing, p.ECCEnabled, p.isMultiGpuBoard, p.asyncEngineCount,
      p.canMapHostMemory);
    int at[] = {cudaDevAttrClockRate,
                cudaDevAttrMemoryClockRate,
                cudaDevAttrHostNativeAtomicSupported,
                cudaDevAttrCooperativeLaunch,
                cudaDevAttrMemoryPoolsSupported,
                cudaDevAttrIpcEventSupport,
                cudaDevAttrNumaId};
    for (int i : at) {
        v = -1;
        cudaError_t e = cudaDeviceGetAttribute(&v, (cudaDeviceAttr)i, 0);
        V("attr %d err %d = %d", i, e, v);
    }
    R(cudaDeviceGetPCIBusId(bus, 64, 0));
    V("busid len %zu", strlen(bus));
    cudaDriverGetVersion(&drv);
    cudaRuntimeGetVersion(&rt);
    V("driver %d runtime %d", drv, rt);
}

static void c_setdevice()
{
    int d;
    cudaDeviceProp p;
    R(cudaSetDevice(99));
    R(cudaPeekAtLastError());
    R(cudaGetLastError());
    R(cudaGetLastError());
    R(cudaSetDevice(-1));
    cudaGetDevice(&d);
    V("dev=%d", d);
    R(cudaGetDeviceProperties(&p, 99));
    R(cudaSetDevice(1));
    R(cudaGetDevice(&d));
    V("dev=%d", d);
}

static void *thr(void *)
{
    int d = -1;
    R(cudaGetDevice(&d));
    V("new thread's device %d", d);
    cudaSetDevice(99);
    R(cudaPeekAtLastError());
    return 0;
}

static void c_threads()
{
    int d;
    pthread_t t;
    R(cudaSetDevice(2));
    pthread_create(&t, 0, thr, 0);
    pthread_join(t, 0);
    R(cudaPeekAtLastError());
    cudaGetDevice(&d);
    V("main's device %d", d);
}

static void c_notsupported()
{
    cudaDeviceProp p;
    int v, a, b;
    size_t l;
    unsigned f;
    cudaStream_t s;
    R(cudaGetDeviceProperties(&p, 0));
    V("p2p unified %d coop %d managed %d", p.unifiedAddressing, p.cooperativeLaunch,
      p.managedMemory);
    R(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)9999, 0));
    R(cudaDeviceGetLimit(&l, cudaLimitStackSize));
    V("stack %zu", l);
    R(cudaDeviceGetLimit(&l, cudaLimitPrintfFifoSize));
    V("fifo %zu", l);
    R(cudaDeviceSetLimit((cudaLimit)99, 1));
    R(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    R(cudaGetDeviceFlags(&f));
    V("flags %u", f);
    R(cudaDeviceGetStreamPriorityRange(&a, &b));
    V("priority %d %d", a, b);
    R(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -99));
    R(cudaStreamGetPriority(s, &a));
    V("clamped %d", a);
    SKIP(4, needs_kernel);
}

/* ---- visibility: read at the first call, so set before it ---- */

static void c_visible()
{
    int n, v;
    char b[32];
    setenv("CUDA_VISIBLE_DEVICES", "2,0", 1);
    R(cudaGetDeviceCount(&n));
    V("count %d", n);
    for (int i = 0; i < n; i++) {
        cudaDeviceGetPCIBusId(b, 32, i);
        V("dev %d bus order known %d", i, (int)strlen(b));
    }
    R(cudaDeviceCanAccessPeer(&v, 0, 1));
    V("peer %d", v);
    R(cudaSetDevice(2));
}

static void count_visible(const char *list)
{
    int n = -1;
    setenv("CUDA_VISIBLE_DEVICES", list, 1);
    R(cudaGetDeviceCount(&n));
    V("count %d", n);
}

static void c_visible_bad()
{
    count_visible("1,9,0");
}

static void c_visible_none()
{
    void *p;
    count_visible("");
    R(cudaMalloc(&p, 4));
    R(cudaSetDevice(0));
}

static void c_visible_dup()
{
    count_visible("0,0");
}

/* ---- peers ---- */

static void c_canaccess()
{
    int v = -7;
    R(cudaDeviceCanAccessPeer(&v, 0, 0));
    V("self=%d", v);
    R(cudaDeviceCanAccessPeer(&v, 0, 1));
    V("0->1=%d", v);
    R(cudaDeviceCanAccessPeer(&v, 0, 99));
    R(cudaDeviceCanAccessPeer(&v, -1, 0));
    R(cudaDeviceCanAccessPeer(nullptr, 0, 1));
}

static void c_enable()
{
    R(cudaSetDevice(0));
    R(cudaDeviceEnablePeerAccess(0, 0));
    R(cudaDeviceEnablePeerAccess(1, 1));
    R(cudaDeviceEnablePeerAccess(99, 0));
    R(cudaDeviceDisablePeerAccess(1));
    R(cudaGetLastError());
    R(cudaDeviceEnablePeerAccess(1, 0));
    R(cudaDeviceEnablePeerAccess(1, 0));
    R(cudaGetLastError());
    R(cudaDeviceDisablePeerAccess(1));
    R(cudaDeviceDisablePeerAccess(1));
}

static void c_p2pattr()
{
    int v;
    for (int a = 1; a <= 4; a++) {
        v = -1;
        cudaError_t e = cudaDeviceGetP2PAttribute(&v, (cudaDeviceP2PAttr)a, 0, 1);
        V("attr %d (0,1): err %d value %d", a, e, v);
        v = -1;
        e = cudaDeviceGetP2PAttribute(&v, (cudaDeviceP2PAttr)a, 0, 0);
        V("attr %d (0,0): err %d value %d", a, e, v);
    }
    R(cudaDeviceGetP2PAttribute(&v, cudaDevP2PAttrAccessSupported, 0, 99));
    R(cudaDeviceGetP2PAttribute(&v, (cudaDeviceP2PAttr)77, 0, 1));
}

/* ---- processes ---- */

static void c_fork_after_init()
{
    int *a, n, st;
    R(cudaGetDeviceCount(&n));
    R(cudaMalloc(&a, 64));
    pid_t c = fork();
    if (c == 0) {
        R(cudaMalloc(&a, 64));
        R(cudaGetDeviceCount(&n));
        R(cudaSetDevice(0));
        R(cudaDeviceSynchronize());
        fflush(stdout);
        _exit(0);
    }
    waitpid(c, &st, 0);
    V("child status %x", st);
}

static void c_fork_after_count()
{
    int n, st, *a;
    R(cudaGetDeviceCount(&n));
    pid_t c = fork();
    if (c == 0) {
        R(cudaGetDeviceCount(&n));
        V("child count %d", n);
        R(cudaSetDevice(0));
        R(cudaMalloc(&a, 64));
        _exit(0);
    }
    waitpid(c, &st, 0);
}

static void c_fork_after_props()
{
    int v, st, *a;
    cudaDeviceProp p;
    R(cudaGetDeviceProperties(&p, 0));
    R(cudaDeviceCanAccessPeer(&v, 0, 1));
    pid_t c = fork();
    if (c == 0) {
        R(cudaSetDevice(0));
        R(cudaMalloc(&a, 64));
        _exit(0);
    }
    waitpid(c, &st, 0);
}

static void c_fork_after_setdevice()
{
    int st, *a;
    R(cudaSetDevice(0));
    pid_t c = fork();
    if (c == 0) {
        R(cudaMalloc(&a, 64));
        _exit(0);
    }
    waitpid(c, &st, 0);
}

#define C(name)                                                                                    \
    {                                                                                              \
#name, c_##name                                                                            \
    }
static const replay_case cases[] = {C(count),
                                    C(attrs),
                                    C(setdevice),
                                    C(threads),
                                    C(notsupported),
                                    C(visible),
                                    C(visible_bad),
                                    C(visible_none),
                                    C(visible_dup),
                                    C(canaccess),
                                    C(enable),
                                    C(p2pattr),
                                    C(fork_after_init),
                                    C(fork_after_count),
                                    C(fork_after_props),
                                    C(fork_after_setdevice)};

int main(int argc, char **argv)
{
    return replay_main(argc, argv, cases, (int)(sizeof cases / sizeof cases[0]));
}

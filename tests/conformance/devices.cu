// SPDX-License-Identifier: MIT
// devices.cu: choosing devices, what the runtime says of them, and their settings.
#include "ask.h"

CASE(choose_device)
{
    cudaDeviceProp p = {};
    int d = -1;
    R(cudaChooseDevice(&d, &p));
    V("device %d", d);
    p.major = 9;
    R(cudaChooseDevice(&d, &p));
    V("device %d", d);
    p.major = 99;
    R(cudaChooseDevice(&d, &p));
    V("device %d", d);
    p.major = 0;
    p.totalGlobalMem = (size_t)1 << 50;
    R(cudaChooseDevice(&d, &p));
    V("device %d", d);
    R(cudaChooseDevice(NULL, &p));
    R(cudaChooseDevice(&d, NULL));
}

CASE(init_device)
{
    int d = -1;
    unsigned flags = 99;
    R(cudaInitDevice(1, 0, 0));
    R(cudaGetDevice(&d));
    V("current %d", d);
    R(cudaInitDevice(0, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid));
    R(cudaGetDeviceFlags(&flags));
    V("flags %u", flags);
    R(cudaInitDevice(0, cudaDeviceScheduleYield, 0));
    R(cudaGetDeviceFlags(&flags));
    V("flags %u", flags);
    R(cudaInitDevice(99, 0, 0));
    R(cudaInitDevice(-1, 0, 0));
    R(cudaInitDevice(0, 0, 2));
    R(cudaInitDevice(0, 0x400, cudaInitDeviceFlagsAreValid));
    R(cudaInitDevice(0, 0x400, 0));
}

CASE(device_flags)
{
    unsigned flags = 99;
    R(cudaGetDeviceFlags(&flags));
    V("flags %u", flags);
    R(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    R(cudaGetDeviceFlags(&flags));
    V("flags %u", flags);
    R(cudaFree(0));
    R(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
    R(cudaGetDeviceFlags(&flags));
    V("flags %u", flags);
    R(cudaSetDeviceFlags(3));
    R(cudaSetDeviceFlags(0x400));
    R(cudaSetDeviceFlags(cudaDeviceMapHost));
    R(cudaGetDeviceFlags(NULL));
}

static void current(void)
{
    int d = -1;
    R(cudaGetDevice(&d));
    V("current %d", d);
}

CASE(valid_devices)
{
    int list[] = {1, 0}, bad[] = {99}, twice[] = {1, 1};
    R(cudaSetValidDevices(list, 2));
    current();
    R(cudaFree(0));
    current();
    R(cudaSetValidDevices(bad, 1));
    R(cudaSetValidDevices(twice, 2));
    R(cudaSetValidDevices(list, 0));
    R(cudaSetValidDevices(NULL, 0));
    R(cudaSetValidDevices(NULL, 1));
    R(cudaSetValidDevices(list, -1));
    R(cudaSetValidDevices(list, 99));
}

CASE(valid_devices_one)
{
    int list[] = {1};
    void *p;
    R(cudaSetValidDevices(list, 1));
    R(cudaMalloc(&p, 64));
    current();
    R(cudaSetDevice(0));
    current();
}

CASE(valid_devices_late)
{
    int list[] = {1};
    R(cudaFree(0));
    R(cudaSetValidDevices(list, 1));
    R(cudaFree(0));
    current();
    R(cudaSetDevice(0));
    R(cudaSetValidDevices(list, 1));
    current();
}

CASE(bus_id)
{
    char id[64] = "", lower[64];
    int d = -1;
    R(cudaDeviceGetPCIBusId(id, 64, 1));
    R(cudaDeviceGetByPCIBusId(&d, id));
    V("length %zu, device %d", strlen(id), d);
    for (int i = 0; i < 64; i++)
        lower[i] = id[i] >= 'A' && id[i] <= 'F' ? (char)(id[i] + 32) : id[i];
    d = -1;
    R(cudaDeviceGetByPCIBusId(&d, lower));
    V("device %d", d);
    R(cudaDeviceGetByPCIBusId(&d, id + 5));
    V("device %d", d);
    R(cudaDeviceGetByPCIBusId(&d, "0000:FE:1F.0"));
    R(cudaDeviceGetByPCIBusId(&d, "nonsense"));
    R(cudaDeviceGetByPCIBusId(&d, ""));
    R(cudaDeviceGetPCIBusId(id, 4, 0));
    V("\"%s\"", id);
    R(cudaDeviceGetPCIBusId(id, 12, 0));
    R(cudaDeviceGetPCIBusId(id, 13, 0));
    R(cudaDeviceGetPCIBusId(id, 0, 0));
    R(cudaDeviceGetPCIBusId(id, -1, 0));
    R(cudaDeviceGetPCIBusId(id, 64, 99));
    R(cudaDeviceGetPCIBusId(NULL, 64, 0));
    R(cudaDeviceGetByPCIBusId(NULL, id));
    R(cudaDeviceGetByPCIBusId(&d, NULL));
}

CASE(cache_config)
{
    cudaFuncCache c = (cudaFuncCache)99;
    R(cudaDeviceGetCacheConfig(&c));
    V("config %d", (int)c);
    for (int i = 0; i < 5; i++) {
        R(cudaDeviceSetCacheConfig((cudaFuncCache)i));
        R(cudaDeviceGetCacheConfig(&c));
        V("%d: config %d", i, (int)c);
    }
    R(cudaDeviceSetCacheConfig((cudaFuncCache)-1));
    R(cudaDeviceGetCacheConfig(NULL));
}

CASE(l2_reset)
{
    R(cudaCtxResetPersistingL2Cache());
}

CASE(no_device_yet)
{
    int v = -1;
    size_t n = 0;
    R(cudaDeviceGetLimit(&n, cudaLimitStackSize));
    V("stack %zu", n);
    R(cudaDeviceGetStreamPriorityRange(&v, NULL));
    R(cudaDeviceGetStreamPriorityRange(NULL, NULL));
    R(cudaDeviceGetLimit(&n, (cudaLimit)77));
    R(cudaDeviceGetLimit(NULL, cudaLimitStackSize));
    R(cudaDeviceSetLimit((cudaLimit)77, 1));
    R(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)9999, 0));
    R(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)0, 0));
    R(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    R(cudaGetDeviceProperties(NULL, 0));
}

/* Values of this kind of GPU, without those that tell one from the next. */
CASE(attributes)
{
    for (int a = 1; a < 150; a++) {
        int v = -1;
        if (a == 33 || a == 34 || a == 50 || a == 134)
            continue; /* where it is plugged in */
        cudaError_t e = cudaDeviceGetAttribute(&v, (cudaDeviceAttr)a, 0);
        cudaGetLastError();
        V("attribute %d: %d, value %d", a, (int)e, e ? 0 : v);
    }
}

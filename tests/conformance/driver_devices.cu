// SPDX-License-Identifier: MIT
// driver_devices.cu: the driver API's devices, contexts, versions and entry points.
#include "ask.h"

CASE(driver_before_init)
{
    int n = -1;
    CUdevice d;
    CUcontext c;
    const char *text = NULL;
    R(cudaDriverGetVersion(&n));
    D(cuDriverGetVersion(&n));
    V("%d", n);
    D(cuDeviceGetCount(&n));
    D(cuDeviceGet(&d, 0));
    D(cuCtxGetCurrent(&c));
    D(cuDevicePrimaryCtxRetain(&c, 0));
    D(cuGetErrorString(CUDA_ERROR_NOT_INITIALIZED, &text));
    V("%s", text ? text : "null");
    D(cuInit(1));
    D(cuInit(0));
    D(cuInit(0));
    D(cuDeviceGetCount(&n));
    V("%d", n);
    D(cuDriverGetVersion(NULL));
}

CASE(driver_error_strings)
{
    const char *text = NULL;
    const CUresult some[] = {CUDA_SUCCESS,
                             CUDA_ERROR_INVALID_VALUE,
                             CUDA_ERROR_OUT_OF_MEMORY,
                             CUDA_ERROR_INVALID_CONTEXT,
                             CUDA_ERROR_INVALID_HANDLE,
                             CUDA_ERROR_ILLEGAL_ADDRESS,
                             CUDA_ERROR_LAUNCH_FAILED,
                             CUDA_ERROR_NOT_SUPPORTED};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        D(cuGetErrorString(some[i], &text));
        V("%d: %s", (int)some[i], text ? text : "null");
    }
    D(cuGetErrorString((CUresult)99999, &text));
    V("null %d", text == NULL);
    D(cuGetErrorName((CUresult)99999, &text));
    D(cuGetErrorString(CUDA_SUCCESS, NULL));
}

CASE(driver_entry_points)
{
    void *f = NULL;
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)99;
    OK(cuInit(0));
    D(cuGetProcAddress("cuMemAlloc", &f, 13000, 0, &status));
    V("there %d, status %d", f != NULL, (int)status);
    D(cuGetProcAddress("cuMemAlloc", &f, 2000, 0, &status));
    V("there %d, status %d", f != NULL, (int)status);
    D(cuGetProcAddress("cuMemAlloc_v2", &f, 13000, 0, &status));
    V("there %d, status %d", f != NULL, (int)status);
    D(cuGetProcAddress("cuNoSuchThing", &f, 13000, 0, &status));
    V("there %d, status %d", f != NULL, (int)status);
    D(cuGetProcAddress("cuNoSuchThing", &f, 13000, 0, NULL));
    D(cuGetProcAddress("cuLaunchKernel", &f, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                       &status));
    V("there %d, status %d", f != NULL, (int)status);
    D(cuGetProcAddress("cuMemAlloc", &f, 13000, 64, &status));
    D(cuGetProcAddress("", &f, 13000, 0, &status));
    D(cuGetProcAddress("cuMemAlloc", NULL, 13000, 0, &status));
    D(cuGetProcAddress(NULL, &f, 13000, 0, &status));
}

CASE(driver_devices)
{
    CUdevice d = -1;
    int n = -1, minor = -1;
    char name[64] = "", short_name[8] = "";
    size_t bytes = 0;
    OK(cuInit(0));
    D(cuDeviceGet(&d, 1));
    V("device %d", d);
    D(cuDeviceGet(&d, 99));
    D(cuDeviceGet(&d, -1));
    D(cuDeviceGetName(name, 64, 0));
    V("%s", name);
    D(cuDeviceGetName(short_name, 7, 0));
    V("%s", short_name);
    D(cuDeviceGetName(name, 0, 0));
    D(cuDeviceGetName(name, 64, 99));
    D(cuDeviceTotalMem(&bytes, 0));
    V("%zu bytes", bytes);
    D(cuDeviceTotalMem(&bytes, 99));
    D(cuDeviceComputeCapability(&n, &minor, 0));
    V("%d.%d", n, minor);
    D(cuDeviceComputeCapability(&n, &minor, 99));
    D(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    V("%d", n);
    D(cuDeviceGetAttribute(&n, (CUdevice_attribute)9999, 0));
    D(cuDeviceGetAttribute(&n, (CUdevice_attribute)0, 0));
    D(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99));
    D(cuDeviceGet(NULL, 0));
    D(cuDeviceGetCount(NULL));
    D(cuDeviceGetName(NULL, 64, 0));
    D(cuDeviceTotalMem(NULL, 0));
    D(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    D(cuDeviceComputeCapability(NULL, &minor, 0));
}

CASE(driver_uuid)
{
    CUuuid a, b, c;
    OK(cuInit(0));
    D(cuDeviceGetUuid(&a, 0));
    D(cuDeviceGetUuid(&b, 1));
    D(cuDeviceGetUuid(&c, 0));
    V("two GPUs differ %d, one does not %d", memcmp(&a, &b, sizeof a) != 0,
      memcmp(&a, &c, sizeof a) == 0);
    D(cuDeviceGetUuid(&a, 99));
    D(cuDeviceGetUuid(NULL, 0));
}

CASE(driver_peers)
{
    int v = -1;
    OK(cuInit(0));
    D(cuDeviceCanAccessPeer(&v, 0, 1));
    V("%d", v);
    D(cuDeviceCanAccessPeer(&v, 0, 0));
    V("%d", v);
    D(cuDeviceCanAccessPeer(&v, 0, 99));
    for (int a = 1; a <= 5; a++) {
        v = -1;
        D(cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)a, 0, 1));
        V("attribute %d: %d", a, v);
    }
    D(cuDeviceGetP2PAttribute(&v, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
    D(cuDeviceGetP2PAttribute(&v, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 99));
    D(cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)77, 0, 1));
    D(cuDeviceCanAccessPeer(NULL, 0, 1));
    D(cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
}

CASE(driver_bus_id)
{
    char id[64] = "";
    CUdevice d = -1;
    OK(cuInit(0));
    D(cuDeviceGetPCIBusId(id, 64, 1));
    D(cuDeviceGetByPCIBusId(&d, id));
    V("length %zu, device %d", strlen(id), d);
    D(cuDeviceGetByPCIBusId(&d, "0000:FE:1F.0"));
    D(cuDeviceGetByPCIBusId(&d, "nonsense"));
    D(cuDeviceGetPCIBusId(id, 4, 0));
    D(cuDeviceGetPCIBusId(id, 0, 0));
    D(cuDeviceGetPCIBusId(id, 64, 99));
    D(cuDeviceGetPCIBusId(NULL, 64, 0));
    D(cuDeviceGetByPCIBusId(NULL, id));
    D(cuDeviceGetByPCIBusId(&d, NULL));
}

static void state(CUdevice d)
{
    unsigned flags = 99;
    int active = 99;
    D(cuDevicePrimaryCtxGetState(d, &flags, &active));
    V("flags %u, active %d", flags, active);
}

CASE(driver_primary)
{
    CUcontext c = NULL, again = NULL;
    OK(cuInit(0));
    state(0);
    D(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
    state(0);
    D(cuDevicePrimaryCtxRetain(&c, 0));
    D(cuDevicePrimaryCtxRetain(&again, 0));
    V("the same %d", c == again);
    state(0);
    D(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN));
    state(0);
    D(cuDevicePrimaryCtxSetFlags(0, 3));
    D(cuDevicePrimaryCtxSetFlags(0, 0x400));
    D(cuDevicePrimaryCtxSetFlags(99, 0));
    D(cuDevicePrimaryCtxRelease(0));
    state(0);
    D(cuDevicePrimaryCtxRelease(0));
    state(0);
    D(cuDevicePrimaryCtxRelease(0));
    D(cuDevicePrimaryCtxRelease(99));
    D(cuDevicePrimaryCtxReset(0));
    D(cuDevicePrimaryCtxReset(99));
    D(cuDevicePrimaryCtxRetain(&c, 99));
    state(99);
    D(cuDevicePrimaryCtxRetain(NULL, 0));
    D(cuDevicePrimaryCtxGetState(0, NULL, NULL));
}

CASE(driver_primary_reset)
{
    ask_context(0);
    CUdeviceptr p = ask_memory(64);
    D(cuDevicePrimaryCtxReset(0));
    state(0);
    D(cuMemFree(p));
    CUcontext c;
    D(cuDevicePrimaryCtxRetain(&c, 0));
    D(cuCtxSetCurrent(c));
    D(cuMemAlloc(&p, 64));
}

/* SPDX-License-Identifier: MIT
 * driver.c: the driver API in plain C: cuInit first, contexts and their stack, memory, streams,
 * what is refused by name; and the runtime's last error, which none of it touches.
 */
#include <pthread.h>
#include <string.h>

#include <cuda.h>
#include <cuda_runtime.h>

#include "expect.h"

static void before_init(void)
{
    int n;
    CUcontext c;
    CUdeviceptr p;
    EXPECT_IS(cuDriverGetVersion(&n), CUDA_SUCCESS);
    EXPECT_IS(n, 13000);
    EXPECT_IS(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_IS(cuCtxGetCurrent(&c), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_IS(cuMemAlloc(&p, 4), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_IS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IS(cuInit(0), CUDA_SUCCESS);
}

static void devices(void)
{
    int n, major, minor;
    char name[80], bus[32];
    size_t bytes;
    CUdevice d, same;
    CUuuid uuid;
    OK(cuDeviceGetCount(&n));
    EXPECT_IS(n, 4);
    OK(cuDeviceGet(&d, 1));
    EXPECT_IS(cuDeviceGet(&d, n), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetName(name, sizeof name, d));
    EXPECT(strstr(name, "H200"));
    OK(cuDeviceGetUuid(&uuid, d));
    OK(cuDeviceTotalMem(&bytes, d));
    EXPECT(bytes > 100ull << 30);
    OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d));
    for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_MAX; attribute++)
        OK(cuDeviceGetAttribute(&minor, (CUdevice_attribute)attribute, d));
    OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, d));
    EXPECT_IS(minor, 0);
    EXPECT_IS(major, 9);
    OK(cuDeviceComputeCapability(&major, &minor, d));
    EXPECT_IS(major, 9);
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, d));
    OK(cuDeviceGetByPCIBusId(&same, bus));
    EXPECT_IS(same, d);
    OK(cuDeviceCanAccessPeer(&n, 0, 1));
    EXPECT_IS(n, 1);
    OK(cuDeviceGetP2PAttribute(&n, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, 0, 1));
    EXPECT_IS(n, 1);
}

static void *fresh_thread(void *unused)
{
    CUcontext c = (CUcontext)&c;
    (void)unused;
    OK(cuCtxGetCurrent(&c));
    EXPECT(c == NULL);
    EXPECT_IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    return NULL;
}

static void contexts(void)
{
    CUcontext none, a, b, c, got;
    CUdevice d;
    unsigned flags;
    int active, device;
    CUdeviceptr p;
    pthread_t thread;
    OK(cuCtxGetCurrent(&none));
    EXPECT(none == NULL);
    EXPECT_IS(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_IS(cuCtxPopCurrent(&got), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    EXPECT_IS(active, 0);
    OK(cuDevicePrimaryCtxRetain(&b, 1));
    OK(cuDevicePrimaryCtxRetain(&got, 1));
    EXPECT(got == b);
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    EXPECT_IS(active, 1);
    OK(cuCtxGetCurrent(&got));
    EXPECT(got == NULL); /* retained is not current */
    OK(cuCtxCreate(&a, NULL, 0, 0));
    OK(cuCtxGetCurrent(&got));
    EXPECT(got == a);
    OK(cuCtxPushCurrent(b));
    OK(cuCtxGetDevice(&d));
    EXPECT_IS(d, 1);
    OK(cudaGetDevice(&device));
    EXPECT_IS(device, 1);
    OK(cuCtxPopCurrent(&got));
    EXPECT(got == b);
    OK(cuCtxGetDevice(&d));
    EXPECT_IS(d, 0);
    OK(cuCtxCreate(&c, NULL, 0, 2));
    pthread_create(&thread, NULL, fresh_thread, NULL);
    pthread_join(thread, NULL);
    OK(cuCtxDestroy(c));
    EXPECT_IS(cuCtxDestroy(c), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_IS(cuCtxPushCurrent(c), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxGetCurrent(&got));
    EXPECT(got == a);
    OK(cuCtxDestroy(a));
    OK(cuCtxGetCurrent(&got));
    EXPECT(got == NULL);
    OK(cuDevicePrimaryCtxRelease(1));
    OK(cuDevicePrimaryCtxRelease(1));
    EXPECT_IS(cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxGetState(1, &flags, &active));
    EXPECT_IS(active, 0);
}

static void memory(CUcontext zero, CUcontext one)
{
    unsigned in[1000], out[1000];
    unsigned short half[4];
    CUdeviceptr p, q, base;
    size_t bytes, free_bytes, total;
    unsigned type;
    int ordinal;
    void *host;
    OK(cuCtxSetCurrent(zero));
    EXPECT_IS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAlloc(&p, sizeof in));
    OK(cuMemGetInfo(&free_bytes, &total));
    EXPECT(free_bytes < total);
    OK(cuCtxSetCurrent(one));
    OK(cuMemAlloc(&q, sizeof in));
    for (unsigned i = 0; i < 1000; i++)
        in[i] = i * 3;
    OK(cuMemcpyHtoD(p, in, sizeof in));
    OK(cuMemcpyPeer(q, one, p, zero, sizeof in));
    OK(cuMemcpyDtoH(out, q, sizeof in));
    EXPECT_IS(memcmp(in, out, sizeof in), 0);
    OK(cuMemsetD32(q, 0xabcd1234, 1000));
    OK(cuMemsetD16(q, 0x7788, 2));
    EXPECT_IS(cuMemsetD32(q + 2, 0, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyDtoD(p, q, 16));
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)out, p, 16));
    memcpy(half, out, sizeof half);
    EXPECT_IS(half[1], 0x7788);
    EXPECT_IS(out[1], 0xabcd1234);
    OK(cuMemGetAddressRange(&base, &bytes, q + 40));
    EXPECT(base == q && bytes == sizeof in);
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, q));
    EXPECT_IS(ordinal, 1);
    OK(cuMemAllocHost(&host, 4096));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                             (CUdeviceptr)(uintptr_t)host));
    EXPECT_IS(type, CU_MEMORYTYPE_HOST);
    EXPECT_IS(
        cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)out),
        CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(host));
    OK(cuMemFree(p));
    OK(cuMemFree(q));
    EXPECT_IS(cuMemFree(q), CUDA_ERROR_INVALID_VALUE);
}

static void work(CUcontext zero, CUcontext one)
{
    CUstream stream;
    CUevent start, stop;
    CUdeviceptr p;
    CUcontext got;
    float ms = -1;
    OK(cuCtxSetCurrent(zero));
    OK(cuMemAlloc(&p, 64 << 20));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&stop, CU_EVENT_DEFAULT));
    OK(cuEventRecord(start, stream));
    OK(cuMemsetD8Async(p, 1, 64 << 20, stream));
    OK(cuEventRecord(stop, stream));
    EXPECT_IS(cuEventQuery(stop), CUDA_ERROR_NOT_READY);
    OK(cuStreamSynchronize(stream));
    OK(cuEventElapsedTime(&ms, start, stop));
    EXPECT(ms > 0);
    OK(cuStreamGetCtx(stream, &got));
    EXPECT(got == zero);
    OK(cuEventDestroy(start));
    OK(cuEventDestroy(stop));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(p));
    OK(cuCtxEnablePeerAccess(one, 0));
    EXPECT_IS(cuCtxEnablePeerAccess(one, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    EXPECT_IS(cuCtxEnablePeerAccess(zero, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    OK(cuCtxDisablePeerAccess(one));
    EXPECT_IS(cuCtxDisablePeerAccess(one), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

static void by_name(void)
{
    const char *text = NULL;
    void *function;
    CUdriverProcAddressQueryResult status;
    CUmodule module;
    CUmulticastObjectProp prop = {0};
    CUmemGenericAllocationHandle handle;
    OK(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text));
    EXPECT_IS(strcmp(text, "CUDA_ERROR_INVALID_CONTEXT"), 0);
    EXPECT_IS(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    EXPECT(text == NULL);
    OK(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
    EXPECT_IS(strcmp(text, "invalid argument"), 0);
    OK(cuGetProcAddress("cuMemAlloc", &function, 13000, 0, &status));
    EXPECT(status == CU_GET_PROC_ADDRESS_SUCCESS && function != NULL);
    OK(cuGetProcAddress("cuNoSuchCall", &function, 13000, 0, &status));
    EXPECT(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND && function == NULL);
    enum cudaDriverEntryPointQueryResult entry;
    CUresult (*device_count)(int *);
    int count = 0;
    OK(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &function, 12000, cudaEnableDefault,
                                        &entry));
    memcpy(&device_count, &function, sizeof device_count);
    EXPECT(entry == cudaDriverEntryPointSuccess && device_count(&count) == CUDA_SUCCESS);
    EXPECT(count > 0);
    OK(cudaGetDriverEntryPoint("cuNoSuchCall", &function, cudaEnableDefault, &entry));
    EXPECT(entry == cudaDriverEntryPointSymbolNotFound && function == NULL);
    EXPECT_IS(cudaGetDriverEntryPoint(NULL, &function, cudaEnableDefault, &entry),
              cudaErrorInvalidValue);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_IS(cuModuleLoadData(&module, ".version 8.0"), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_IS(cuMulticastCreate(&handle, &prop), CUDA_ERROR_NOT_SUPPORTED);
}

static int active_on(int device)
{
    unsigned int flags;
    int active = -1;
    OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    return active;
}

/* Whatever runtime call needs a context first makes the primary one of the current device. */
static void made_by_the_runtime(void)
{
    void *p;
    OK(cuCtxSetCurrent(NULL));
    EXPECT_IS(active_on(0), 0);
    EXPECT_IS(cudaCtxResetPersistingL2Cache(), cudaErrorDeviceUninitialized);
    EXPECT_IS(cudaGetLastError(), cudaErrorDeviceUninitialized);
    OK(cudaMalloc(&p, 64));
    EXPECT_IS(active_on(0), 1);
    EXPECT_IS(active_on(1), 0);
    OK(cudaCtxResetPersistingL2Cache());
    OK(cudaFree(p));
    OK(cudaDeviceReset());
    EXPECT_IS(active_on(0), 0);
    OK(cudaFree(0));
    EXPECT_IS(active_on(0), 1);
    OK(cudaDeviceReset());
    OK(cuCtxSetCurrent(NULL));
}

int main(void)
{
    CUcontext zero, one, got;
    before_init();
    devices();
    made_by_the_runtime();
    contexts();
    OK(cuDevicePrimaryCtxRetain(&zero, 0));
    OK(cuDevicePrimaryCtxRetain(&one, 1));
    memory(zero, one);
    work(zero, one);
    by_name();
    OK(cudaPeekAtLastError());
    EXPECT_IS(cudaSetDevice(77), cudaErrorInvalidDevice);
    EXPECT_IS(cuMemFree(12345), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice);
    OK(cudaSetDevice(1));
    OK(cuCtxGetCurrent(&got));
    EXPECT(got == one);
    OK(cuCtxSetCurrent(NULL));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxRelease(1));
    return 0;
}

/* SPDX-License-Identifier: MIT
 * plain.c: an ordinary C program, compiled by the C compiler alone: data goes through every kind of
 * copy and comes back right, and a call that passes through others is admitted once.
 */
#include <stdbool.h>
#include <string.h>

#include <cuda_runtime.h>

#include "expect.h"

#define COUNT 100003 /* odd, and not a multiple of a page */
#define BYTES (COUNT * sizeof(int))

static int source[COUNT], result[COUNT];

static void fill_source(int salt)
{
    for (int i = 0; i < COUNT; i++)
        source[i] = i * 7 + salt;
    memset(result, 0xee, sizeof result);
}

static int *on(int device)
{
    void *p;
    OK(cudaSetDevice(device));
    OK(cudaMalloc(&p, BYTES));
    return p;
}

static void around_all_devices(void)
{
    int count, *buffer[16];
    OK(cudaGetDeviceCount(&count));
    EXPECT_IS(count, 4);
    fill_source(1);
    for (int d = 0; d < count; d++)
        buffer[d] = on(d);
    OK(cudaMemcpy(buffer[0], source, BYTES, cudaMemcpyHostToDevice));
    for (int d = 1; d < count; d++)
        OK(cudaMemcpyPeer(buffer[d], d, buffer[d - 1], d - 1, BYTES));
    OK(cudaMemcpy(result, buffer[count - 1], BYTES, cudaMemcpyDeviceToHost));
    EXPECT_IS(memcmp(source, result, BYTES), 0);
    for (int d = 0; d < count; d++)
        OK(cudaFree(buffer[d]));
}

static void pinned_and_streams(void)
{
    void *pinned;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    float ms = -1;
    int *device = on(0);
    fill_source(2);
    OK(cudaMallocHost(&pinned, BYTES));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    memcpy(pinned, source, BYTES);
    OK(cudaEventRecord(start, stream));
    OK(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    OK(cudaEventRecord(stop, stream));
    EXPECT_IS(cudaStreamQuery(stream), cudaErrorNotReady);
    EXPECT_IS(cudaGetLastError(), cudaErrorNotReady);
    OK(cudaStreamSynchronize(stream));
    OK(cudaEventElapsedTime(&ms, start, stop));
    EXPECT(ms > 0.005f && ms < 1);
    OK(cudaMemcpyAsync(result, device, BYTES, cudaMemcpyDeviceToHost, stream));
    EXPECT_IS(memcmp(source, result, BYTES), 0); /* pageable: complete when the call returns */
    OK(cudaMemsetAsync(device, 0x11, BYTES, stream));
    OK(cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDefault, stream));
    OK(cudaStreamSynchronize(stream));
    EXPECT_IS(((int *)pinned)[COUNT - 1], 0x11111111);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    OK(cudaStreamDestroy(stream));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(device));
}

static void stream_attributes(void)
{
    cudaStream_t a, b;
    cudaStreamAttrValue value = {.syncPolicy = cudaSyncPolicyBlockingSync};
    OK(cudaStreamCreateWithPriority(&a, cudaStreamNonBlocking, -3));
    OK(cudaStreamCreate(&b));
    OK(cudaStreamSetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &value));
    OK(cudaStreamGetAttribute(b, cudaStreamAttributeSynchronizationPolicy, &value));
    EXPECT_IS((int)value.syncPolicy, -1); /* nothing was set: recorded */
    OK(cudaStreamCopyAttributes(b, a));
    OK(cudaStreamGetAttribute(b, cudaStreamAttributeSynchronizationPolicy, &value));
    EXPECT_IS(value.syncPolicy, cudaSyncPolicyBlockingSync);
    OK(cudaStreamGetAttribute(a, cudaStreamAttributePriority, &value));
    EXPECT_IS(value.priority, -3);
    EXPECT_IS(cudaStreamGetAttribute(a, cudaLaunchAttributeCooperative, &value),
              cudaErrorInvalidValue);
    EXPECT_IS(cudaStreamSetAttribute(a, cudaStreamAttributeSynchronizationPolicy, NULL),
              cudaErrorInvalidValue);
    OK(cudaStreamDestroy(a));
    EXPECT_IS(cudaStreamCopyAttributes(b, a), cudaErrorInvalidResourceHandle);
    OK(cudaStreamDestroy(b));
    cudaGetLastError();
}

static void rectangles(void)
{
    enum { WIDTH = 37, ROWS = 19, HOST_PITCH = 50 };
    unsigned char in[ROWS * HOST_PITCH], out[ROWS * HOST_PITCH];
    void *device;
    size_t pitch;
    OK(cudaMallocPitch(&device, &pitch, WIDTH, ROWS));
    EXPECT(pitch >= WIDTH && pitch % 512 == 0);
    for (int i = 0; i < (int)sizeof in; i++)
        in[i] = (unsigned char)(i * 5);
    memset(out, 0, sizeof out);
    OK(cudaMemset2D(device, pitch, 9, WIDTH, ROWS));
    OK(cudaMemcpy2D(device, pitch, in, HOST_PITCH, WIDTH, ROWS - 1, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(out, HOST_PITCH, device, pitch, WIDTH, ROWS, cudaMemcpyDefault));
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < HOST_PITCH; x++)
            EXPECT_IS(out[y * HOST_PITCH + x], x >= WIDTH     ? 0
                                               : y < ROWS - 1 ? in[y * HOST_PITCH + x]
                                                              : 9);
    EXPECT_IS(cudaMemcpy2D(out, 20, device, pitch, WIDTH, ROWS, cudaMemcpyDeviceToHost),
              cudaErrorInvalidPitchValue);
    EXPECT_IS(cudaMemcpy2D(device, pitch, in, HOST_PITCH, WIDTH, ROWS + 1, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    OK(cudaMemcpy2D(out, HOST_PITCH, device, pitch, WIDTH, 0, cudaMemcpyDeviceToHost));
    cudaGetLastError();
    OK(cudaFree(device));
}

/* Staging grows, and copies between two places of the host. */
static void large_and_host(void)
{
    size_t bytes = 40u << 20;
    char *host = malloc(bytes), *back = malloc(bytes);
    void *device;
    EXPECT(host && back);
    for (size_t i = 0; i < bytes; i++)
        host[i] = (char)(i * 13 + (i >> 12));
    OK(cudaMalloc(&device, bytes));
    OK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(back, device, bytes, cudaMemcpyDeviceToHost));
    EXPECT_IS(memcmp(host, back, bytes), 0);
    memset(back, 0, bytes);
    OK(cudaMemcpy(back, host, bytes, cudaMemcpyDefault));
    EXPECT_IS(memcmp(host, back, bytes), 0);
    OK(cudaFree(device));
    free(host);
    free(back);
}

/* ---- what comes before a call's checks comes once ---- */

extern bool (*vgpu__failure_hook)(const char *call);

static int calls_admitted;

static bool count_call(const char *call)
{
    (void)call;
    calls_admitted++;
    return false;
}

/* `call` is one call of CUDA, which is admitted once. */
#define ADMITTED_ONCE(call)                                                                        \
    do {                                                                                           \
        calls_admitted = 0;                                                                        \
        OK(call);                                                                                  \
        EXPECT_IS(calls_admitted, 1);                                                              \
    } while (0)

static void admitted_once(void)
{
    static char host[4096];
    const struct cudaChannelFormatDesc bytes = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    cudaArray_t array, other;
    char *device;
    OK(cudaMallocArray(&array, &bytes, 64, 64, 0));
    OK(cudaMallocArray(&other, &bytes, 64, 64, 0));
    OK(cudaMalloc((void **)&device, sizeof host));
    struct cudaMemcpy3DParms box = {.srcPtr = {device, 64, 64, 64},
                                    .dstPtr = {device, 64, 64, 64},
                                    .extent = {64, 1, 1},
                                    .kind = cudaMemcpyDeviceToDevice};
    vgpu__failure_hook = count_call;
    ADMITTED_ONCE(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    ADMITTED_ONCE(cudaMemcpy(host, host, 1, cudaMemcpyHostToHost));
    ADMITTED_ONCE(cudaMemcpyPeerAsync(device, 0, device, 0, 1, NULL));
    ADMITTED_ONCE(cudaMemcpy3D(&box));
    ADMITTED_ONCE(cudaMemcpy2DToArray(array, 0, 0, host, 64, 64, 64, cudaMemcpyHostToDevice));
    ADMITTED_ONCE(cudaMemcpy2DFromArray(host, 64, array, 0, 0, 64, 64, cudaMemcpyDeviceToHost));
    ADMITTED_ONCE(
        cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 0, 64, 64, cudaMemcpyDeviceToDevice));
    ADMITTED_ONCE(cudaMemset(device, 0, 64));
    ADMITTED_ONCE(cudaMemset2DAsync(device, 64, 0, 64, 2, NULL));
    ADMITTED_ONCE(cudaDeviceSynchronize());
    vgpu__failure_hook = NULL;
    OK(cudaFree(device));
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(other));
}

int main(void)
{
    around_all_devices();
    OK(cudaSetDevice(0));
    pinned_and_streams();
    stream_attributes();
    rectangles();
    large_and_host();
    admitted_once();
    EXPECT_IS(cudaGetLastError(), cudaSuccess);
    return 0;
}

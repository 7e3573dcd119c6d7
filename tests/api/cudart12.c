/* SPDX-License-Identifier: MIT
 * cudart12.c: a program as Toolkit 12's headers make it: linked with libcudart.so.12, with that
 * Toolkit's structures and parameters (its headers are not needed: what is used of them stands
 * here).
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "expect.h"

typedef int error;
typedef void *handle;

struct prop { /* cudaDeviceProp of CUDA 12: 1032 bytes, of which these are looked at */
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t global_bytes, shared_bytes;
    int regs_per_block, warp_size;
    size_t pitch;
    int max_threads, max_block[3], max_grid[3], clock_khz;
    size_t constant_bytes;
    int major, minor;
    size_t texture_alignment, pitch_alignment;
    int overlap, sm_count;
    char rest[1032 - 392];
};
_Static_assert(offsetof(struct prop, clock_khz) == 348 && offsetof(struct prop, rest) == 392,
               "CUDA 12's");

struct location {
    int type, id;
};

error cudaRuntimeGetVersion(int *version);
error cudaGetDeviceProperties_v2(struct prop *prop, int device);
error cudaDeviceGetAttribute(int *value, int attribute, int device);
error cudaMalloc(void **memory, size_t bytes);
error cudaMallocManaged(void **memory, size_t bytes, unsigned flags);
error cudaPointerGetAttributes(void *attributes, const void *memory);
error cudaMemAdvise(const void *at, size_t bytes, int advice, int device);
error cudaMemAdvise_v2(const void *at, size_t bytes, int advice, struct location location);
error cudaMemPrefetchAsync(const void *at, size_t bytes, int device, handle stream);
error cudaMemPrefetchAsync_ptsz(const void *at, size_t bytes, int device, handle stream);
error cudaGraphCreate(handle *graph, unsigned flags);
error cudaGraphAddEmptyNode(handle *node, handle graph, const handle *after, size_t count);
error cudaGraphAddDependencies(handle graph, const handle *from, const handle *to, size_t count);
error cudaGraphGetEdges(handle graph, handle *from, handle *to, size_t *count);
error cudaGraphGetEdges_v2(handle graph, handle *from, handle *to, void *data, size_t *count);
error cudaGraphNodeGetDependencies(handle node, handle *on, size_t *count);
error cudaStreamGetCaptureInfo_v2(handle stream, int *status, unsigned long long *id, handle *graph,
                                  const handle **on, size_t *count);
error cudaThreadSynchronize(void);
error cudaSetDoubleForDevice(double *number);

enum { CLOCK_RATE = 13, SM_COUNT = 16 };

static void check_properties(void)
{
    struct {
        struct prop prop;
        unsigned char after[64];
    } is;
    int clock, count, version;

    memset(&is, 0xa5, sizeof is);
    EXPECT(cudaGetDeviceProperties_v2(&is.prop, 0) == 0);
    for (size_t i = 0; i < sizeof is.after; i++)
        EXPECT(is.after[i] == 0xa5);
    EXPECT(cudaDeviceGetAttribute(&clock, CLOCK_RATE, 0) == 0);
    EXPECT(cudaDeviceGetAttribute(&count, SM_COUNT, 0) == 0);
    EXPECT(is.prop.major == 9 && is.prop.clock_khz == clock && is.prop.sm_count == count);
    EXPECT(is.prop.warp_size == 32 && is.prop.constant_bytes == 65536);
    EXPECT(cudaRuntimeGetVersion(&version) == 0 && version / 1000 == 12);
}

/* 24 bytes; CUDA 13 has appended 64. */
static void check_pointers(void)
{
    uint64_t is[5] = {0, 0, 0, 0x1234, 0x5678};
    void *memory;

    EXPECT(cudaMalloc(&memory, 64) == 0);
    EXPECT(cudaPointerGetAttributes(is, memory) == 0);
    EXPECT((uint32_t)is[0] == 2 && is[1] == (uintptr_t)memory && is[3] == 0x1234);
    EXPECT(cudaPointerGetAttributes(NULL, memory) == 1);
}

static void check_devices_as_locations(void)
{
    void *memory;

    EXPECT(cudaMallocManaged(&memory, 4096, 1) == 0);
    EXPECT(cudaMemAdvise(memory, 4096, 3, 1) == 0);
    EXPECT(cudaMemAdvise_v2(memory, 4096, 3, (struct location){1, 1}) == 0);
    EXPECT(cudaMemAdvise(memory, 4096, 3, -1) == 0);
    EXPECT(cudaMemPrefetchAsync(memory, 4096, 1, NULL) == 0);
    EXPECT(cudaMemPrefetchAsync_ptsz(memory, 4096, -1, NULL) == 0);
    EXPECT(cudaMemPrefetchAsync(memory, 4096, 99, NULL) != 0);
    EXPECT(cudaThreadSynchronize() == 0);
}

static void check_graphs(void)
{
    handle graph, node[2], from[2], to[2], on[2];
    size_t count = 2;
    int status = 9;
    unsigned long long id;

    EXPECT(cudaGraphCreate(&graph, 0) == 0);
    for (int i = 0; i < 2; i++)
        EXPECT(cudaGraphAddEmptyNode(&node[i], graph, NULL, 0) == 0);
    EXPECT(cudaGraphAddDependencies(graph, &node[0], &node[1], 1) == 0);
    EXPECT(cudaGraphGetEdges(graph, from, to, &count) == 0);
    EXPECT(count == 1 && from[0] == node[0] && to[0] == node[1]);
    EXPECT(cudaGraphGetEdges_v2(graph, from, to, NULL, &count) == 0 && count == 1);
    EXPECT(cudaGraphNodeGetDependencies(node[1], on, &count) == 0 && count == 1 &&
           on[0] == node[0]);
    EXPECT(cudaStreamGetCaptureInfo_v2(NULL, &status, &id, NULL, NULL, NULL) == 0 && status == 0);
}

int main(void)
{
    check_properties();
    check_pointers();
    check_devices_as_locations();
    check_graphs();
    EXPECT(cudaSetDoubleForDevice(NULL) == 801); /* a call of CUDA 12 that there is not */
    return 0;
}

/* SPDX-License-Identifier: MIT
 * run_memory.c: allocations and what is asked about them, peer access, pools.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static cudaError_t allocated(enum fuzz_memory kind, void **ptr, size_t size,
                             struct fuzz_stream *stream)
{
    switch (kind) {
    case MEM_PINNED:
        return cudaMallocHost(ptr, size);
    case MEM_MAPPED:
        return cudaHostAlloc(ptr, size, cudaHostAllocMapped | cudaHostAllocPortable);
    case MEM_MANAGED:
        return cudaMallocManaged(ptr, size, cudaMemAttachGlobal);
    case MEM_POOL:
        return cudaMallocAsync(ptr, size, stream->handle);
    case MEM_PAGEABLE:
        return posix_memalign(ptr, 4096, (size + 4096) / 4096 * 4096) == 0
                   ? cudaSuccess
                   : cudaErrorMemoryAllocation;
    default:
        return cudaMalloc(ptr, size);
    }
}

void run_alloc(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[0]];
    enum fuzz_memory kind = (enum fuzz_memory)a[1];
    struct fuzz_stream *stream = stream_at(a[3]);
    size_t size = a[2] < 0 ? (size_t)1 << 50 : (size_t)a[2];
    void *ptr = NULL;
    if (b->kind != MEM_NONE || (a[2] < 0 && (kind == MEM_PAGEABLE || kind == MEM_MANAGED))) {
        say(" skip");
        return;
    }
    if (!said(allocated(kind, &ptr, size, stream)) || ptr == NULL || size == 0) {
        say(" %s", ptr == NULL ? "null" : "not null");
        return;
    }
    *b = (struct fuzz_buffer){.kind = kind,
                              .ptr = ptr,
                              .size = size,
                              .device = kind == MEM_POOL ? device_of(stream) : state.device,
                              .place = state.process * FUZZ_BUFFERS + a[0],
                              .chunk = -1};
    b->access = b->device == state.device ? 1u << b->device : 0;
    state.used |= 1u << b->device;
    say(" aligned %d", (int)((uintptr_t)ptr % 256 == 0));
    sync_all();
    buffer_fill(a[0]);
}

static cudaError_t freed(const struct fuzz_buffer *b, int way, char *ptr, cudaStream_t stream)
{
    bool host = b->kind == MEM_PINNED || b->kind == MEM_MAPPED;
    switch (way == 0 ? (host ? 2 : 1) : way) {
    case 2:
        return cudaFreeHost(ptr);
    case 3:
        return cudaFreeAsync(ptr, stream);
    case 4:
        return cudaIpcCloseMemHandle(ptr);
    default:
        return cudaFree(ptr);
    }
}

/* The wrong call for that memory: only where it is an error and no more. */
static bool harmless(const struct fuzz_buffer *b, int way, int off)
{
    if (way == 3) /* stream-ordered frees of others' memory are not offered to both alike */
        return b->kind == MEM_POOL && off == 0;
    return b->kind != MEM_VMM && b->kind != MEM_NONE;
}

/* Memory that another process still has open may be somebody else's once it is freed. */
static bool lent(const struct fuzz_buffer *b)
{
    return shared->seed >= FUZZ_LENT_STAYS && b->kind == MEM_DEVICE && shared->lent[b->place] > 0;
}

void run_free(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[0]];
    struct fuzz_stream *stream = stream_at(a[2]);
    if (b->kind == MEM_PAGEABLE && !b->registered && a[1] == 0) {
        sync_all();
        buffer_release(a[0]);
        say(" freed");
        return;
    }
    if (!harmless(b, a[1], a[3]) || lent(b)) {
        say(" skip");
        return;
    }
    sync_all();
    if (said(freed(b, a[1], b->ptr + a[3], stream->handle))) {
        handles_forget(b->place);
        *b = (struct fuzz_buffer){.place = state.process * FUZZ_BUFFERS + a[0], .chunk = -1};
        graphs_end(); /* none uses it later */
    }
    sync_all();
}

void run_peer(const int *a)
{
    int value = -7;
    sync_all();
    switch (a[1]) {
    case 0:
        if (said(cudaDeviceEnablePeerAccess(a[0], (unsigned)a[2])))
            state.peer[state.device][a[0]] = true;
        break;
    case 1:
        if (said(cudaDeviceDisablePeerAccess(a[0])))
            state.peer[state.device][a[0]] = false;
        break;
    case 2:
        said(cudaDeviceCanAccessPeer(&value, a[3], a[0]));
        say(" %d", value);
        break;
    default:
        if (said(cudaDeviceGetP2PAttribute(&value, (enum cudaDeviceP2PAttr)a[2], a[3], a[0])))
            say(" %d", a[2] == cudaDevP2PAttrPerformanceRank ? 0 : value);
    }
}

void run_register(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[0]];
    if (b->kind != MEM_PAGEABLE) {
        say(" skip");
        return;
    }
    sync_all();
    if (a[1] % 3 == 2) {
        if (said(cudaHostUnregister(b->ptr + (a[5] ? 4 : 0))))
            b->registered = 0;
        return;
    }
    unsigned flags = a[5] ? (unsigned)a[1] : cudaHostRegisterPortable | cudaHostRegisterMapped;
    if (flags & (cudaHostRegisterIoMemory | cudaHostRegisterReadOnly)) {
        say(" skip");
        return;
    }
    if (said(cudaHostRegister(b->ptr, (b->size + 4095) / 4096 * 4096, flags)))
        b->registered = 1;
}

static void ask_pointer(const struct fuzz_buffer *b, int off)
{
    struct cudaPointerAttributes t;
    memset(&t, 0, sizeof t);
    if (b->kind == MEM_POOL || (b->kind == MEM_VMM && b->access == 0)) { /* docs/conformance.md */
        say(" skip");
        return;
    }
    char *ptr = b->kind == MEM_NONE ? NULL : b->ptr + off;
    if (said(cudaPointerGetAttributes(&t, ptr)))
        say(" type %d device %d same %d host %d", t.type, t.device, t.devicePointer == ptr,
            t.hostPointer == ptr);
}

static void ask_host(const struct fuzz_buffer *b, int what)
{
    void *device = NULL;
    unsigned flags = 0;
    char *ptr = b->kind == MEM_NONE ? NULL : b->ptr;
    if (b->kind == MEM_VMM) { /* answered by where it lies */
        say(" skip");
        return;
    }
    if (what == 0) {
        if (said(cudaHostGetDevicePointer(&device, ptr, 0)))
            say(" same %d", device == ptr);
    } else if (said(cudaHostGetFlags(&flags, ptr))) {
        say(" mapped %d",
            (flags & cudaHostAllocMapped) != 0); /* small ones share a block's flags */
    }
}

static void ask_range(const struct fuzz_buffer *b)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    if (b->kind == MEM_NONE || b->kind == MEM_VMM) {
        say(" skip");
        return;
    }
    if (said(cuMemGetAddressRange(&base, &bytes, (CUdeviceptr)(b->ptr + 4))))
        say(" base %d bytes %zu", base == (CUdeviceptr)b->ptr, bytes);
}

void run_ask(const int *a)
{
    const struct fuzz_buffer *b = &state.buffer[a[0]];
    int device = -7;
    size_t free_bytes, total;
    switch (a[1] % 6) {
    case 0:
        said(cudaGetDevice(&device));
        say(" %d", device);
        break;
    case 1:
        ask_host(b, a[3] % 2);
        break;
    case 2:
        ask_range(b);
        break;
    case 3:
        said(cudaMemGetInfo(&free_bytes, &total));
        break;
    default:
        ask_pointer(b, a[5] ? 4 : 0);
    }
}

/* ---- pools ---- */

static void pool_access(cudaMemPool_t pool, int device, int to, int flags)
{
    struct cudaMemAccessDesc d = {.location = {.type = cudaMemLocationTypeDevice, .id = to},
                                  .flags = (enum cudaMemAccessFlags)flags};
    sync_all();
    if (!said(cudaMemPoolSetAccess(pool, &d, 1)))
        return;
    for (int i = 0; i < FUZZ_BUFFERS; i++) {
        struct fuzz_buffer *b = &state.buffer[i];
        if (b->kind == MEM_POOL && b->device == device)
            b->access = flags ? b->access | 1u << to : b->access & ~(1u << to);
    }
    if (to == device || flags == 0)
        return;
    d.flags = cudaMemAccessFlagsProtNone; /* later programs find the pool as it was */
    for (int i = 0; i < FUZZ_BUFFERS; i++)
        if (state.buffer[i].kind == MEM_POOL && state.buffer[i].device == device)
            state.buffer[i].access &= ~(1u << to);
    say(" again");
    said(cudaMemPoolSetAccess(pool, &d, 1));
}

static void pool_attribute(cudaMemPool_t pool, int which)
{
    uint64_t value = 0;
    int flag = 0;
    static const enum cudaMemPoolAttr flags[] = {cudaMemPoolReuseFollowEventDependencies,
                                                 cudaMemPoolReuseAllowOpportunistic,
                                                 cudaMemPoolReuseAllowInternalDependencies};
    if (which == 3) {
        said(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
        say(" %d", value == 0);
        return;
    }
    said(cudaMemPoolGetAttribute(pool, flags[which], &flag));
    say(" %d", flag);
}

void run_pool(const int *a)
{
    cudaMemPool_t pool = NULL;
    enum cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
    struct cudaMemLocation location = {.type = cudaMemLocationTypeDevice, .id = a[2]};
    int device = a[5] ? a[2] : a[6] % state.gpus;
    if (!said(cudaDeviceGetDefaultMemPool(&pool, device)))
        return;
    switch (a[1] % 4) {
    case 0:
        pool_access(pool, device, a[2], a[5] ? a[3] % 4 : 3);
        break;
    case 1:
        if (said(cudaMemPoolGetAccess(&flags, pool, &location)))
            say(" %d", flags);
        break;
    case 2:
        sync_all();
        said(cudaMemPoolTrimTo(pool, 0));
        break;
    default:
        pool_attribute(pool, a[3] % 4);
    }
}

/* SPDX-License-Identifier: MIT
 * run_share.c: memory between processes: IPC handles, and cuMem* with descriptors.
 */
#include "fuzz.h"

#include <unistd.h>

enum { GRANULE = 2 << 20 };

/* ---- IPC ---- */

static void ipc_get(const int *a)
{
    const struct fuzz_buffer *b = &state.buffer[a[2]];
    cudaIpcMemHandle_t handle;
    if (b->kind == MEM_NONE) {
        say(" skip");
        return;
    }
    if (!said(cudaIpcGetMemHandle(&handle, b->ptr)))
        return;
    shared->handle[a[1]].memory = handle;
    shared->handle[a[1]].has_memory = true;
    shared->handle[a[1]].place = b->place;
    shared->handle[a[1]].device = b->device;
    shared->handle[a[1]].size = b->size;
    shared->handle[a[1]].owner = state.process;
}

static void ipc_open(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[2]];
    void *ptr = NULL;
    if (b->kind != MEM_NONE || !shared->handle[a[1]].has_memory) {
        say(" skip");
        return;
    }
    if (!said(cudaIpcOpenMemHandle(&ptr, shared->handle[a[1]].memory, (unsigned)a[3])))
        return;
    *b = (struct fuzz_buffer){.kind = MEM_IPC,
                              .ptr = ptr,
                              .size = shared->handle[a[1]].size,
                              .device = shared->handle[a[1]].device,
                              .place = shared->handle[a[1]].place,
                              .access = 1u << state.device,
                              .chunk = -1};
    shared->lent[b->place]++;
}

static void ipc_close(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[2]];
    if (b->kind == MEM_VMM || b->kind == MEM_NONE) {
        say(" skip");
        return;
    }
    sync_all();
    if (said(cudaIpcCloseMemHandle(b->ptr)) && b->kind == MEM_IPC) {
        shared->lent[b->place]--;
        *b = (struct fuzz_buffer){.place = state.process * FUZZ_BUFFERS + a[2], .chunk = -1};
        graphs_end();
    }
}

static void ipc_get_event(const int *a)
{
    const struct fuzz_event *e = &state.event[a[2]];
    cudaIpcEventHandle_t handle;
    if (!e->live || e->foreign) {
        say(" skip");
        return;
    }
    if (!said(cudaIpcGetEventHandle(&handle, e->handle)))
        return;
    shared->handle[a[1]].event = handle;
    shared->handle[a[1]].has_event = true;
    shared->handle[a[1]].owner = state.process;
}

static void ipc_open_event(const int *a)
{
    struct fuzz_event *e = &state.event[a[2]];
    cudaEvent_t handle = NULL;
    if (e->live || !shared->handle[a[1]].has_event || shared->handle[a[1]].owner == state.process) {
        say(" skip");
        return;
    }
    if (said(cudaIpcOpenEventHandle(&handle, shared->handle[a[1]].event)))
        *e = (struct fuzz_event){.handle = handle, .live = true, .foreign = true, .shared = true};
}

void run_ipc(const int *a)
{
    static void (*const calls[])(const int *) = {ipc_get, ipc_open, ipc_close, ipc_get_event,
                                                 ipc_open_event};
    sync_all();
    calls[a[0]](a);
}

/* ---- virtual memory management ---- */

static CUmemAllocationProp properties(int device, int handle_types)
{
    CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    p.requestedHandleTypes = (CUmemAllocationHandleType)handle_types;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.location.id = device;
    return p;
}

static CUresult set_access(CUdeviceptr at, size_t bytes, int device, int flags)
{
    CUmemAccessDesc d = {.flags = (CUmemAccess_flags)flags};
    d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    d.location.id = device;
    return cuMemSetAccess(at, bytes, &d, 1);
}

/* New memory holds anything: give it contents, through a mapping that goes again. */
static void chunk_fill(const struct fuzz_chunk *c, int value)
{
    CUdeviceptr at = 0;
    if (cuMemAddressReserve(&at, c->size, 0, 0, 0) != CUDA_SUCCESS)
        return;
    cudaSetDevice(c->device);
    cuMemMap(at, c->size, 0, c->handle, 0);
    set_access(at, c->size, c->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    cudaMemset((void *)at, value, c->size);
    cudaDeviceSynchronize();
    cuMemUnmap(at, c->size);
    cuMemAddressFree(at, c->size);
    cudaSetDevice(state.device);
}

static void vmm_create(const int *a)
{
    struct fuzz_chunk *c = &state.chunk[a[1]];
    CUmemAllocationProp p =
        properties(a[3], a[5] == 2 ? 0 : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    size_t size = a[5] == 3 ? 4096 : a[5] == 4 ? 0 : GRANULE;
    if (c->live) {
        say(" skip");
        return;
    }
    if (!said(cuMemCreate(&c->handle, size, &p, 0)))
        return;
    c->live = true;
    c->device = a[3];
    c->size = size;
    c->place = 2 * FUZZ_BUFFERS + state.process * FUZZ_CHUNKS + a[1];
    chunk_fill(c, 17 + a[1]);
}

static void vmm_reserve(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[2]];
    CUdeviceptr at = 0;
    size_t size = a[5] == 3 ? 4096 : a[5] == 4 ? 0 : GRANULE;
    if (b->kind != MEM_NONE) {
        say(" skip");
        return;
    }
    if (!said(cuMemAddressReserve(&at, size, 0, 0, 0)))
        return;
    say(" aligned %d", (int)(at % GRANULE == 0));
    *b = (struct fuzz_buffer){.kind = MEM_VMM, .ptr = (char *)at, .size = size, .chunk = -1};
    b->place = state.process * FUZZ_BUFFERS + a[2];
}

static void vmm_access(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[2]];
    for (int i = 0; i < state.gpus + (a[5] != 1); i++) {
        if (i < state.gpus && !(a[6] >> i & 1))
            continue;
        if (!said(set_access((CUdeviceptr)b->ptr, b->size, i, a[4])) || b->chunk < 0)
            continue;
        unsigned bit = 1u << i;
        b->access = a[4] ? b->access | bit : b->access & ~bit;
        b->writable = a[4] == 3 ? b->writable | bit : b->writable & ~bit;
    }
}

static void vmm_map(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[2]];
    struct fuzz_chunk *c = &state.chunk[a[1]];
    if (!c->live || b->kind != MEM_VMM) { /* a handle that is gone crashes the driver */
        say(" skip");
        return;
    }
    if (!said(cuMemMap((CUdeviceptr)b->ptr, a[5] == 3 ? 4096 : GRANULE, a[5] == 2 ? GRANULE : 0,
                       c->handle, a[5] == 4)))
        return;
    b->chunk = a[1];
    b->device = c->device;
    b->access = b->writable = 0;
    vmm_access(a);
}

static void vmm_unmap(struct fuzz_buffer *b, size_t size)
{
    if (b->kind != MEM_VMM) {
        say(" skip");
        return;
    }
    if (said(cuMemUnmap((CUdeviceptr)b->ptr, size)))
        b->chunk = -1, b->access = 0;
    graphs_end();
}

static void vmm_ask(const int *a)
{
    const struct fuzz_buffer *b = &state.buffer[a[2]];
    unsigned long long flags = 7;
    CUmemLocation at = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = a[3]};
    CUmemAllocationProp p = properties(a[3], 0);
    size_t granule = 0;
    if (a[6] % 3 == 0) {
        said(cuMemGetAllocationGranularity(&granule, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
        say(" %zu", granule);
    } else if (a[6] % 3 == 1 && b->kind == MEM_VMM) {
        if (said(cuMemGetAccess(&flags, &at, (CUdeviceptr)b->ptr)))
            say(" %llu", flags);
    } else if (state.chunk[a[1]].live) {
        if (said(cuMemGetAllocationPropertiesFromHandle(&p, state.chunk[a[1]].handle)))
            say(" %d %d", p.location.id, p.requestedHandleTypes);
    }
}

static void vmm_export(const int *a)
{
    struct fuzz_chunk *c = &state.chunk[a[1]];
    int descriptor = -1;
    if (!c->live || shared->chunk[a[1]].sent) {
        say(" skip");
        return;
    }
    if (!said(cuMemExportToShareableHandle(&descriptor, c->handle,
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)))
        return;
    if (state.program->two) {
        pair_send_descriptor(descriptor, a[1]);
        shared->chunk[a[1]].sent = true;
        shared->chunk[a[1]].place = c->place;
        shared->chunk[a[1]].device = c->device;
        shared->chunk[a[1]].size = c->size;
    }
    close(descriptor);
}

static void vmm_import(const int *a)
{
    struct fuzz_chunk *c = &state.chunk[a[1]];
    int descriptor = c->live ? -1 : pair_take_descriptor(a[1]);
    if (descriptor < 0) {
        say(" skip");
        return;
    }
    if (said(cuMemImportFromShareableHandle(&c->handle, (void *)(intptr_t)descriptor,
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))) {
        c->live = true;
        c->place = shared->chunk[a[1]].place;
        c->device = shared->chunk[a[1]].device;
        c->size = shared->chunk[a[1]].size;
    }
    close(descriptor);
}

static void vmm_free(const int *a)
{
    struct fuzz_buffer *b = &state.buffer[a[2]];
    if (b->kind != MEM_VMM) {
        say(" skip");
        return;
    }
    if (said(cuMemAddressFree((CUdeviceptr)b->ptr, a[5] == 1 ? b->size : GRANULE / 2)))
        *b = (struct fuzz_buffer){.place = state.process * FUZZ_BUFFERS + a[2], .chunk = -1};
}

void run_vmm(const int *a)
{
    sync_all();
    switch (a[0]) {
    case 0:
        vmm_create(a);
        break;
    case 1:
        vmm_reserve(a);
        break;
    case 2:
        vmm_map(a);
        break;
    case 3:
        vmm_unmap(&state.buffer[a[2]], a[5] == 1 ? GRANULE : GRANULE / 2);
        break;
    case 4:
        if (!state.chunk[a[1]].live)
            say(" skip");
        else if (said(cuMemRelease(state.chunk[a[1]].handle)))
            state.chunk[a[1]].live = false;
        break;
    case 5:
        vmm_free(a);
        break;
    case 6:
        vmm_export(a);
        break;
    case 7:
        vmm_import(a);
        break;
    case 8:
        vmm_ask(a);
        break;
    default:
        if (state.buffer[a[2]].kind == MEM_VMM)
            vmm_access(a);
    }
}

void vmm_end(void)
{
    for (int i = 0; i < FUZZ_BUFFERS; i++) {
        struct fuzz_buffer *b = &state.buffer[i];
        if (b->kind != MEM_VMM)
            continue;
        if (b->chunk >= 0)
            cuMemUnmap((CUdeviceptr)b->ptr, GRANULE);
        cuMemAddressFree((CUdeviceptr)b->ptr, b->size);
    }
    for (int i = 0; i < FUZZ_CHUNKS; i++)
        if (state.chunk[i].live)
            cuMemRelease(state.chunk[i].handle);
}

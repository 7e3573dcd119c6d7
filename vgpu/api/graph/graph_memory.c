/* SPDX-License-Identifier: MIT
 * graph_memory.c: nodes that allocate and free device memory. An allocation has its address when
 * its node is made: a range of addresses (VMM) without memory. A launch maps a block of memory
 * there. A block that was freed in a stream is mapped again for what that stream launches next,
 * so that graphs share memory; cudaDeviceGraphMemTrim gives up blocks that are not in use.
 *
 * A free node does not take the memory away: an access after it does not fail.
 */
#include <pthread.h>
#include <stdlib.h>

#include "graph_exec.h"

struct block {
    uint64_t handle, bytes;
    uint64_t stream; /* in which it was freed; 0: it may be used in any */
    int physical;
    bool busy; /* allocated and not freed */
    struct block *next;
};

struct graph_memory {
    uint64_t address, bytes;
    int physical;
    uint32_t reach;      /* devices with access */
    struct block *block; /* mapped at the address; NULL: none */
    bool live;           /* a launch has allocated it, and nothing has freed it */
    struct graph_memory *next;
};

static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct graph_memory *graph_memories;   /* guarded by memory_lock; entries stay */
static struct block *graph_blocks;            /* guarded by memory_lock */
static uint64_t high_bytes[VGPU_MAX_DEVICES]; /* guarded by memory_lock */

/* ---- requests to the node ---- */

struct memory_request {
    uint64_t ptr, bytes, value;
    int physical;
    uint32_t flags;
};

static cudaError_t ask_memory(uint32_t op, struct memory_request fields, uint64_t *value)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin("cudaGraphLaunch", op);
    if (!request)
        return vgpu__failed();
    request->ptr = fields.ptr;
    request->bytes = fields.bytes;
    request->value = fields.value;
    request->device = fields.physical;
    request->flags = fields.flags;
    cudaError_t error = vgpu__record(vgpu__ask(-1, true, &reply));
    if (error == cudaSuccess && value)
        *value = reply->value;
    return error;
}

static uint64_t block_bytes(int physical)
{
    uint64_t bytes = 0;
    for (const struct block *b = graph_blocks; b; b = b->next)
        bytes += b->physical == physical ? b->bytes : 0;
    return bytes;
}

static cudaError_t make_block(const struct graph_memory *m, struct block **out)
{
    struct block *b = calloc(1, sizeof *b);
    if (!b)
        return vgpu__no_memory("cudaGraphLaunch");
    *b = (struct block){.bytes = m->bytes, .physical = m->physical, .next = graph_blocks};
    cudaError_t error =
        ask_memory(VGPU_OP_VMM_CREATE,
                   (struct memory_request){.bytes = m->bytes, .physical = m->physical}, &b->handle);
    if (error != cudaSuccess) {
        free(b);
        return error;
    }
    graph_blocks = *out = b;
    uint64_t all = block_bytes(m->physical);
    if (all > high_bytes[m->physical])
        high_bytes[m->physical] = all;
    return cudaSuccess;
}

static cudaError_t unmap_memory(struct graph_memory *m)
{
    cudaError_t error = ask_memory(
        VGPU_OP_VMM_UNMAP, (struct memory_request){.ptr = m->address, .bytes = m->bytes}, NULL);
    if (error == cudaSuccess)
        m->block = NULL;
    return error;
}

static cudaError_t map_block(struct graph_memory *m, struct block *b)
{
    cudaError_t error = ask_memory(
        VGPU_OP_VMM_MAP,
        (struct memory_request){.ptr = m->address, .bytes = m->bytes, .value = b->handle}, NULL);
    if (error == cudaSuccess)
        m->block = b;
    for (int d = 0; error == cudaSuccess && d < VGPU_MAX_DEVICES; d++)
        if (m->reach >> d & 1)
            error = ask_memory(VGPU_OP_VMM_ACCESS,
                               (struct memory_request){
                                   .ptr = m->address, .bytes = m->bytes, .physical = d, .flags = 3},
                               NULL);
    return error;
}

/* ---- allocations ---- */

static struct graph_memory *memory_at(uint64_t address)
{
    struct graph_memory *m = graph_memories;
    while (m && m->address != address)
        m = m->next;
    return m;
}

/* What an earlier node of the graph has freed when `node` runs, and no other node takes. */
static struct graph_memory *freed_before(struct CUgraphNode_st *node, int physical, uint64_t bytes)
{
    const struct CUgraph_st *g = node->graph;
    for (size_t i = 0; i < g->count; i++) {
        const struct CUgraphNode_st *f = g->node[i];
        if (f->type != cudaGraphNodeTypeMemFree || f->u.memory->bytes != bytes ||
            f->u.memory->physical != physical || !vgpu__node_after(node, f))
            continue;
        int taken = 0;
        for (size_t k = 0; k < g->count; k++)
            if (g->node[k] != node && g->node[k]->u.memory == f->u.memory)
                taken += (g->node[k]->type == cudaGraphNodeTypeMemAlloc) -
                         (g->node[k]->type == cudaGraphNodeTypeMemFree);
        if (taken == 0)
            return f->u.memory;
    }
    return NULL;
}

static cudaError_t reserve_memory(const char *call, int physical, uint64_t bytes,
                                  struct graph_memory **out)
{
    struct graph_memory *m = calloc(1, sizeof *m);
    if (!m)
        return vgpu__no_memory(call);
    *m = (struct graph_memory){.bytes = bytes, .physical = physical, .next = graph_memories};
    cudaError_t error =
        ask_memory(VGPU_OP_VMM_RESERVE, (struct memory_request){.bytes = bytes}, &m->address);
    if (error != cudaSuccess) {
        free(m);
        return error;
    }
    graph_memories = *out = m;
    return cudaSuccess;
}

cudaError_t vgpu__graph_allocate(const char *call, struct CUgraphNode_st *node, int physical,
                                 size_t size, uint32_t reach, void **out)
{
    uint64_t bytes = (size + VGPU_CHUNK_BYTES - 1) / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    cudaError_t error = cudaSuccess;
    node->type = cudaGraphNodeTypeEmpty; /* until it has memory */
    pthread_mutex_lock(&memory_lock);
    struct graph_memory *m = freed_before(node, physical, bytes);
    if (!m)
        error = reserve_memory(call, physical, bytes, &m);
    if (error == cudaSuccess) {
        m->reach |= reach | 1u << physical;
        node->u.memory = m;
        node->u.bytes = size;
        node->u.reach = reach;
        node->type = cudaGraphNodeTypeMemAlloc;
        *out = (void *)(uintptr_t)m->address; /* NOLINT */
    }
    pthread_mutex_unlock(&memory_lock);
    return error;
}

/* More often than allocated: another graph may have allocated it once. */
static bool is_freed_in(const struct CUgraph_st *g, const struct graph_memory *m)
{
    size_t allocated = 0, freed = 0;
    for (size_t i = 0; i < g->count; i++) {
        bool same = g->node[i]->u.memory == m;
        allocated += same && g->node[i]->type == cudaGraphNodeTypeMemAlloc;
        freed += same && g->node[i]->type == cudaGraphNodeTypeMemFree;
    }
    return freed >= (allocated ? allocated : 1);
}

cudaError_t vgpu__graph_release(const char *call, struct CUgraphNode_st *node, const void *pointer)
{
    node->type = cudaGraphNodeTypeEmpty;
    pthread_mutex_lock(&memory_lock);
    struct graph_memory *m = memory_at((uint64_t)(uintptr_t)pointer);
    bool again = m && is_freed_in(node->graph, m);
    if (m && !again) {
        node->u.memory = m;
        node->type = cudaGraphNodeTypeMemFree;
    }
    pthread_mutex_unlock(&memory_lock);
    if (again)
        return vgpu__refuse_value(call, "another node of the graph frees this memory");
    return m ? cudaSuccess
             : vgpu__refuse_value(call, "the pointer is not one that a graph's node allocates");
}

uint64_t vgpu__graph_address(const struct graph_memory *memory)
{
    return memory->address; /* which is never changed */
}

bool vgpu__graph_frees(const void *pointer, uint64_t stream)
{
    if (!graph_memories)
        return false;
    pthread_mutex_lock(&memory_lock);
    struct graph_memory *m = memory_at((uint64_t)(uintptr_t)pointer);
    bool frees = m && m->live;
    if (frees) {
        m->live = m->block->busy = false;
        m->block->stream = stream;
    }
    pthread_mutex_unlock(&memory_lock);
    return frees;
}

/* ---- launches ---- */

static cudaError_t attach_block(struct graph_memory *m, uint64_t stream)
{
    cudaError_t error = cudaSuccess;
    struct block *b = m->block;
    if (b && (b->busy || (b->stream && b->stream != stream))) {
        error = unmap_memory(m); /* waits for what uses it */
        b = NULL;
    }
    if (!b) {
        for (b = graph_blocks; b; b = b->next)
            if (!b->busy && b->physical == m->physical && b->bytes == m->bytes &&
                (!b->stream || b->stream == stream))
                break;
        if (error == cudaSuccess && !b)
            error = make_block(m, &b);
        if (error == cudaSuccess)
            error = map_block(m, b);
    }
    if (error == cudaSuccess)
        b->busy = m->live = true;
    return error;
}

/* Whether the graph allocates `m` before the step `at`. */
static bool allocates(const struct CUgraphExec_st *x, const struct graph_memory *m, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (x->step[i].node->type == cudaGraphNodeTypeMemAlloc && x->step[i].node->u.memory == m)
            return true;
    return false;
}

static cudaError_t check_steps(const struct CUgraphExec_st *x, uint64_t stream)
{
    static const char call[] = "cudaGraphLaunch";
    for (size_t i = 0; i < x->count; i++) {
        const struct CUgraphNode_st *n = x->step[i].node;
        bool allocs = n->type == cudaGraphNodeTypeMemAlloc && !allocates(x, n->u.memory, i);
        bool frees = n->type == cudaGraphNodeTypeMemFree && !allocates(x, n->u.memory, i);
        if (allocs && n->u.memory->live && (x->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)) {
            n->u.memory->live = n->u.memory->block->busy = false;
            n->u.memory->block->stream = stream;
        }
        if (allocs && n->u.memory->live)
            return vgpu__refuse_value(call, "memory that an earlier launch of the graph has "
                                            "allocated is not freed yet");
        if (frees && !n->u.memory->live)
            return vgpu__refuse_value(call, "memory that the graph frees is not allocated");
    }
    return cudaSuccess;
}

cudaError_t vgpu__graph_memory_enter(const struct CUgraphExec_st *x, uint64_t stream)
{
    if (!graph_memories)
        return cudaSuccess;
    pthread_mutex_lock(&memory_lock);
    cudaError_t error = check_steps(x, stream);
    for (size_t i = 0; error == cudaSuccess && i < x->count; i++) {
        struct CUgraphNode_st *n = x->step[i].node;
        if (n->type == cudaGraphNodeTypeMemAlloc && !allocates(x, n->u.memory, i))
            error = attach_block(n->u.memory, stream);
    }
    pthread_mutex_unlock(&memory_lock);
    return error;
}

/* What its nodes have allocated and freed in their order. */
void vgpu__graph_memory_leave(const struct CUgraphExec_st *x, uint64_t stream)
{
    if (!graph_memories)
        return;
    pthread_mutex_lock(&memory_lock);
    for (size_t i = 0; i < x->count; i++) {
        const struct CUgraphNode_st *n = x->step[i].node;
        bool allocs = n->type == cudaGraphNodeTypeMemAlloc;
        if (!allocs && n->type != cudaGraphNodeTypeMemFree)
            continue;
        n->u.memory->live = n->u.memory->block->busy = allocs;
        n->u.memory->block->stream = stream;
    }
    pthread_mutex_unlock(&memory_lock);
}

/* ---- trimming ---- */

static void drop_graph_block(struct block **at)
{
    struct block *b = *at;
    for (struct graph_memory *m = graph_memories; m; m = m->next)
        if (m->block == b && unmap_memory(m) != cudaSuccess)
            return;
    ask_memory(VGPU_OP_VMM_RELEASE, (struct memory_request){.value = b->handle}, NULL);
    *at = b->next;
    free(b);
}

/* physical -1: of all devices */
static void trim_blocks(int physical)
{
    pthread_mutex_lock(&memory_lock);
    for (struct block **at = &graph_blocks, *b; (b = *at);) {
        if (!b->busy && (physical < 0 || b->physical == physical))
            drop_graph_block(at);
        if (*at == b)
            at = &b->next;
    }
    pthread_mutex_unlock(&memory_lock);
}

/* Blocks and addresses that the program cannot give back are no leaks. */
static void give_back_all(void)
{
    if (!graph_memories || atomic_load(&vgpu__process.forked))
        return;
    trim_blocks(-1);
    for (struct graph_memory *m = graph_memories; m; m = m->next)
        if (!m->block)
            ask_memory(VGPU_OP_VMM_FREE,
                       (struct memory_request){.ptr = m->address, .bytes = m->bytes}, NULL);
}

__attribute__((constructor)) static void observe_end(void)
{
    static const struct vgpu__observer observer = {.process_ends = give_back_all};
    vgpu__observe(&observer);
}

static cudaError_t check_memory_device(const char *call, int device)
{
    if (!vgpu__admit(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    return vgpu__device_exists(device)
               ? cudaSuccess
               : vgpu__refuse(cudaErrorInvalidDevice, call, "there is no device %d", device);
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    cudaError_t error = check_memory_device("cudaDeviceGraphMemTrim", device);
    if (error == cudaSuccess)
        trim_blocks(vgpu__process.physical[device]);
    return error;
}

/* All memory of blocks counts as used by graphs and as reserved, whether allocated now or not. */
cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
                                           void *value)
{
    static const char call[] = "cudaDeviceGetGraphMemAttribute";
    cudaError_t error = check_memory_device(call, device);
    if (error != cudaSuccess)
        return error;
    if (!value || (unsigned int)attr > cudaGraphMemAttrReservedMemHigh)
        return vgpu__refuse_value(call, "a null pointer, or no such attribute");
    int physical = vgpu__process.physical[device];
    bool high = attr == cudaGraphMemAttrUsedMemHigh || attr == cudaGraphMemAttrReservedMemHigh;
    pthread_mutex_lock(&memory_lock);
    *(uint64_t *)value = high ? high_bytes[physical] : block_bytes(physical);
    pthread_mutex_unlock(&memory_lock);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attr,
                                           void *value)
{
    static const char call[] = "cudaDeviceSetGraphMemAttribute";
    cudaError_t error = check_memory_device(call, device);
    if (error != cudaSuccess)
        return error;
    bool high = attr == cudaGraphMemAttrUsedMemHigh || attr == cudaGraphMemAttrReservedMemHigh;
    if (!value || !high || *(uint64_t *)value != 0)
        return vgpu__refuse_value(call, "only the high marks can be set, to 0");
    int physical = vgpu__process.physical[device];
    pthread_mutex_lock(&memory_lock);
    high_bytes[physical] = block_bytes(physical);
    pthread_mutex_unlock(&memory_lock);
    return cudaSuccess;
}

/* SPDX-License-Identifier: MIT
 * leaks.c: see leaks.h.
 */
#include "leaks.h"

#include <stdio.h>

#include "explain.h"
#include "finding.h"
#include "ipc.h"
#include "device_memory.h"
#include "process.h"
#include "vmm.h"

/* What is left of one kind of resource; `made_at`: return address of the call that made the first.
 */
struct left {
    int count;
    uint64_t bytes, made_at;
};

static void report_leak(struct process *process, enum vgpu_diagnosis diagnosis,
                        const struct left *left, const char *one, const char *many,
                        const char *remedy)
{
    char bytes[48] = "", place[64] = "";
    if (left->count == 0)
        return;
    if (left->bytes)
        snprintf(bytes, sizeof bytes, " (%llu bytes)", (unsigned long long)left->bytes);
    if (left->made_at)
        snprintf(place, sizeof place, "; made, or the first of them," EXPLAIN_AT_FORMAT,
                 (unsigned long long)left->made_at);
    finding_tell(process, diagnosis, NULL, 1, "the program ends with %d %s%s%s: %s", left->count,
                 left->count == 1 ? one : many, bytes, place, remedy);
}

static void add_leaked_block(const struct block *block, void *context)
{
    struct left *left = context;
    if (block->variables || block->dying)
        return;
    for (int i = 0; block->shared && i < block->small.count; i++, left->count++) {
        left->bytes += block->small.range[i].bytes;
        left->made_at = left->made_at ? left->made_at : (uint64_t)block->small.range[i].user;
    }
    if (block->shared)
        return;
    left->count++;
    left->bytes += block->bytes;
    left->made_at = left->made_at ? left->made_at : block->caller;
}

static void report_device_memory(struct process *process)
{
    struct left device = {0}, host = {0};
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        memory_each_block(&process->memory, d, add_leaked_block, &device);
    for (int i = 0; i < process->memory.host.count; i++)
        if (host_asked_for(&process->memory.host.range[i])) {
            host.count++;
            host.bytes += process->memory.host.range[i].bytes;
        }
    report_leak(process, VGPU_DIAGNOSIS_leaks_memory, &device, "allocation of device memory",
                "allocations of device memory", "call cudaFree for each");
    report_leak(process, VGPU_DIAGNOSIS_leaks_host_memory, &host,
                "allocation of pinned, registered or managed memory",
                "allocations of pinned, registered or managed memory",
                "call cudaFreeHost, cudaHostUnregister or cudaFree for each");
}

static void report_streams(struct process *process)
{
    struct left streams = {0}, events = {0};
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        for (const struct stream *s = process->device[d].streams; s; s = s->next)
            if (!s->thread) {
                streams.count++;
                streams.made_at = s->made_at; /* the list begins with the newest */
            }
    for (const struct event *e = process->events; e; e = e->next) {
        events.count++;
        events.made_at = e->made_at;
    }
    report_leak(process, VGPU_DIAGNOSIS_leaks_streams, &streams, "stream", "streams",
                "call cudaStreamDestroy for each");
    report_leak(process, VGPU_DIAGNOSIS_leaks_events, &events, "event", "events",
                "call cudaEventDestroy for each");
}

static void report_shared_memory(struct process *process)
{
    struct left handles = {.count = ipc_open_count(&process->memory)};
    struct left mappings = {.count = vmm_count(&process->memory) +
                                     vmm_count_mappings(&process->memory) +
                                     vmm_count_ranges(&process->memory)};
    struct left peers = {0};
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        peers.count += __builtin_popcount(process->device[d].peers);
    report_leak(process, VGPU_DIAGNOSIS_leaks_handles, &handles, "opened memory handle",
                "opened memory handles", "call cudaIpcCloseMemHandle for each");
    report_leak(process, VGPU_DIAGNOSIS_leaks_mappings, &mappings,
                "allocation, mapping or range of virtual memory management",
                "allocations, mappings or ranges of virtual memory management",
                "cuMemUnmap, cuMemRelease and cuMemAddressFree belong to cuMemMap, cuMemCreate and "
                "cuMemAddressReserve");
    report_leak(process, VGPU_DIAGNOSIS_leaks_peers, &peers, "enabled peer access",
                "enabled peer accesses", "call cudaDeviceDisablePeerAccess for each");
}

void leaks_tell(struct process *process)
{
    if (process->sticky || !(process->checks & VGPU_CHECK_LEAKS))
        return;
    report_device_memory(process);
    report_streams(process);
    report_shared_memory(process);
}

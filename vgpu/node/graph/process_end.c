/* SPDX-License-Identifier: MIT
 * process_end.c: frees the resources of a program: all at its end, or those of one device.
 */
#include "counts.h"
#include "device_memory.h"
#include "ipc.h"
#include "observer.h"
#include "order.h"
#include "pool.h"
#include "process.h"
#include "vmm.h"

/* Counts what the program has not freed. */
static void count_left(const struct process *process)
{
    struct vgpu_summary *counts = &node_counts;
    uint64_t bytes = 0;
    counts->live_allocations += (uint32_t)memory_count(&process->memory, &bytes);
    counts->live_allocations += (uint32_t)vmm_count(&process->memory);
    counts->live_mappings += (uint32_t)vmm_count_mappings(&process->memory);
    counts->live_ranges += (uint32_t)vmm_count_ranges(&process->memory);
    counts->live_bytes += bytes;
    counts->live_ipc += (uint32_t)ipc_open_count(&process->memory);
    for (int i = 0; i < process->memory.host.count; i++)
        counts->live_host_allocations += host_asked_for(&process->memory.host.range[i]);
    counts->live_streams += (uint32_t)stream_count(process);
    counts->live_events += (uint32_t)event_count(process);
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        counts->live_peers += (uint32_t)__builtin_popcount(process->device[d].peers);
    if (process->sticky && !counts->sticky)
        counts->sticky = process->sticky;
}

void process_end(struct process *process)
{
    if (process->dead)
        return;
    count_left(process);
    tell_process_ends(process);
    process->dead = true;
    order_abandon(process);
    event_free_all(process, -1);
    for (int d = 0; d < VGPU_MAX_DEVICES; d++) {
        stream_free_all(process, d);
        context_end(&process->device[d].context);
        owner_set_context(&process->memory, d, false);
    }
    ipc_end(&process->memory, -1);
    vmm_end(&process->memory);
    tell_process_ended(process);
    memory_give_all(&process->memory, -1);
    memory_reclaim();
    pool_free_all(&process->memory);
    process_drop(process);
}

void process_reset_device(struct process *process, int device)
{
    struct device_state *d = &process->device[device];
    event_free_all(process, device);
    stream_free_all(process, device);
    context_end(&d->context);
    ipc_end(&process->memory, device);
    memory_give_all(&process->memory, device);
    d->peers = 0;
    for (int other = 0; other < VGPU_MAX_DEVICES; other++)
        process->device[other].peers &= ~(1u << device);
    owner_set_context(&process->memory, device, false);
    owner_mappings_changed(&process->memory);
}

/* SPDX-License-Identifier: MIT
 * request_vmm.c: requests of virtual memory management. Error codes are recorded ([vmm], [vmm2]).
 */
#include "counts.h"
#include "machine.h"
#include "reply.h"
#include "request.h"

#include <string.h>

#include "device_memory.h"
#include "inject.h"
#include "order.h"
#include "process.h"
#include "vmm.h"
#include "vmm_export.h"

static bool is_whole_chunks(uint64_t bytes)
{
    return bytes != 0 && bytes % VGPU_CHUNK_BYTES == 0;
}

static struct vmm_handle *find_held_handle(struct connection *c)
{
    struct vmm_handle *h = vmm_handle(&c->process->memory, c->request.q.value);
    if (!h)
        request_fail(
            c, VGPU_INVALID_VALUE,
            "%#llx is not an allocation handle of this process: released too often, or never "
            "made?",
            (unsigned long long)c->request.q.value);
    return h;
}

static void refuse_range(struct connection *c, const char *what)
{
    request_fail(c, VGPU_INVALID_VALUE, "%llu bytes at %#llx: %s",
                 (unsigned long long)c->request.q.bytes, (unsigned long long)c->request.q.ptr,
                 what);
}

/* The reservation that contains the request's range of whole chunks; otherwise fails the request.
 */
static struct vmm_range *requested_range(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct vmm_range *r = is_whole_chunks(q->bytes) && q->ptr % VGPU_CHUNK_BYTES == 0
                              ? vmm_range(&c->process->memory, q->ptr, q->bytes)
                              : NULL;
    if (!r)
        refuse_range(c, "not whole multiples of the granularity (2 MiB) inside one range that "
                        "cuMemAddressReserve gave");
    return r;
}

void request_vmm_create(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    if (!request_device(c, q->device))
        return;
    uint64_t granule = machine->info.device[q->device].vmm_granule;
    if (q->bytes == 0 || q->bytes % granule != 0) {
        request_fail(c, VGPU_INVALID_VALUE,
                     "%llu bytes are not a multiple of GPU %d's granularity; round up to %llu MiB "
                     "(cuMemGetAllocationGranularity)",
                     (unsigned long long)q->bytes, q->device, (unsigned long long)granule >> 20);
        return;
    }
    request_cost(c, machine->cost.malloc_ps);
    struct vmm_handle *h =
        inject_no_memory() ? NULL : vmm_create(&c->process->memory, q->device, q->bytes, q->flags);
    if (!h) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "%llu bytes asked for on GPU %d",
                     (unsigned long long)q->bytes, q->device);
        return;
    }
    c->reply.r.value = h->id;
    count_memory(q->device, memory_used_bytes(q->device), memory_asked_bytes(q->device));
}

void request_vmm_release(struct connection *c)
{
    struct vmm_handle *h = find_held_handle(c);
    if (h)
        vmm_release(h);
}

void request_vmm_info(struct connection *c)
{
    struct vmm_handle *h = find_held_handle(c);
    if (!h)
        return;
    c->reply.r.value = (uint64_t)h->allocation->device;
    c->reply.r.value2 = h->imported ? 0 : h->allocation->handle_types; /* recorded */
}

void request_vmm_retain(struct connection *c)
{
    uint64_t va = c->request.q.ptr;
    struct vmm_mapping *m = vmm_first(va);
    if (!m || m->va > va || m->handle->owner != &c->process->memory || m->handle->window) {
        request_fail(c, VGPU_INVALID_VALUE, "no allocation is mapped at %#llx",
                     (unsigned long long)va);
        return;
    }
    m->handle->held++;
    c->reply.r.value = m->handle->id;
}

void request_vmm_export(struct connection *c)
{
    struct vmm_handle *h = find_held_handle(c);
    if (!h)
        return;
    if (h->imported) { /* recorded */
        request_fail(
            c, VGPU_INVALID_VALUE,
            "the handle was imported, and only the process that made the allocation can export it: "
            "let that process send a descriptor to each process that needs one");
        return;
    }
    if (!(h->allocation->handle_types & c->request.q.flags)) {
        request_fail(c, VGPU_INVALID_VALUE,
                     "the allocation was made without this handle type; set requestedHandleTypes "
                     "to CU_MEM_HANDLE_TYPE_%s before cuMemCreate",
                     c->request.q.flags == VGPU_VMM_FABRIC ? "FABRIC" : "POSIX_FILE_DESCRIPTOR");
        return;
    }
    if (c->request.q.flags == VGPU_VMM_FABRIC) {
        if (vmm_export_fabric(h->allocation, c->reply.r.data))
            c->reply.r.data_bytes = IPC_HANDLE_BYTES;
        else
            request_fail(c, VGPU_OUT_OF_MEMORY, "the node gets no random number");
        return;
    }
    c->reply_fd[0] = vmm_export(h->allocation);
    if (c->reply_fd[0] < 0)
        request_fail(c, VGPU_OUT_OF_MEMORY, "the node can open no more descriptors");
    else
        c->reply_fds = 1;
    c->reply_fd_ours = c->reply_fds == 1;
}

void request_vmm_import(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct vmm_handle *h = q->data_bytes == IPC_HANDLE_BYTES
                               ? vmm_import_fabric(&c->process->memory, q->data)
                               : vmm_import(&c->process->memory, c->request_fd);
    if (h)
        c->reply.r.value = h->id;
    else if (q->data_bytes)
        request_fail(
            c, VGPU_INVALID_VALUE,
            "the fabric handle does not name an allocation that exists on this node: it "
            "must come from cuMemExportToShareableHandle, and the allocation must not have "
            "been released by every process");
    else
        request_fail(c, VGPU_UNKNOWN,
                     "the descriptor does not name an allocation of this node: it must come from "
                     "cuMemExportToShareableHandle");
}

void request_vmm_reserve(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    uint64_t alignment = q->value > VGPU_CHUNK_BYTES ? q->value : VGPU_CHUNK_BYTES;
    if (!is_whole_chunks(q->bytes))
        refuse_range(c, "the size must be a multiple of the granularity, 2 MiB");
    else if ((alignment & (alignment - 1)) || alignment > VGPU_DEVICE_STRIDE)
        refuse_range(c, "alignments are powers of two up to 1 TiB");
    else if (!(c->reply.r.value = vmm_reserve(&c->process->memory, q->bytes, alignment)))
        request_fail(c, VGPU_OUT_OF_MEMORY, "no %llu bytes of addresses are left",
                     (unsigned long long)q->bytes);
}

void request_vmm_free(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    struct vmm_range *r = requested_range(c);
    if (!r)
        return;
    struct vmm_mapping *m = vmm_first(r->va);
    if (r->va != q->ptr || r->bytes != q->bytes)
        refuse_range(c, "a part of a reserved range cannot be freed: give its start and its size");
    else if (m && m->va < r->va + r->bytes)
        refuse_range(c, "something is still mapped there: cuMemUnmap first");
    else
        vmm_free(r);
}

void request_vmm_map(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    struct vmm_handle *h = find_held_handle(c);
    if (h && q->bytes && !is_whole_chunks(q->bytes)) {
        request_fail(c, VGPU_NOT_SUPPORTED,
                     "%llu bytes are not a multiple of the granularity; round up to 2 MiB "
                     "(cuMemGetAllocationGranularity)",
                     (unsigned long long)q->bytes);
        return;
    }
    if (!h || !requested_range(c))
        return;
    struct vmm_mapping *m = vmm_first(q->ptr);
    uint64_t offset = q->event, all = h->allocation->bytes;
    if (offset == 0 && q->bytes > all)
        refuse_range(c, "more than the allocation has");
    else if (offset != 0 || q->bytes != all)
        request_fail(c, VGPU_NOT_SUPPORTED,
                     "%llu bytes from offset %llu of an allocation of %llu: a mapping covers its "
                     "whole allocation (hardware answers 801 as well)",
                     (unsigned long long)q->bytes, (unsigned long long)offset,
                     (unsigned long long)all);
    else if (m && m->va < q->ptr + q->bytes)
        refuse_range(c, "something is mapped there already");
    else if (!vmm_map(h, q->ptr))
        request_fail(c, VGPU_OUT_OF_MEMORY, "the node is out of memory");
}

/* True if no mapping extends beyond the range and, with `full`, mappings fill it. */
static bool mappings_fit(const struct vgpu_request *q, bool full)
{
    uint64_t at = q->ptr, end = q->ptr + q->bytes;
    for (struct vmm_mapping *m = vmm_first(at); m && m->va < end; m = m->next) {
        if (m->va < at || m->va + m->bytes > end || (full && m->va != at))
            return false;
        at = m->va + m->bytes;
    }
    return !full || at == end;
}

/* Serial number of the newest mapping in the range; 0: none. */
static uint64_t latest_mapping(const struct vgpu_request *q)
{
    uint64_t latest = 0;
    for (struct vmm_mapping *m = vmm_first(q->ptr); m && m->va < q->ptr + q->bytes; m = m->next)
        latest = m->serial > latest ? m->serial : latest;
    return latest;
}

/* False if another thread has unmapped the range in the meantime, or mapped something new there. */
bool request_vmm_unmap_check(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    if (!vmm_range(&c->process->memory, q->ptr,
                   q->bytes)) { /* any size is accepted if nothing is mapped */
        refuse_range(c, "not inside one range that cuMemAddressReserve gave");
        return false;
    }
    if (!mappings_fit(q, false)) {
        refuse_range(c, "a part of a mapping cannot be unmapped");
        return false;
    }
    return request_same(c, latest_mapping(q));
}

/* Pending work may use the mappings, so the call waits for it, as cudaFree does. */
void request_vmm_unmap_begin(struct connection *c)
{
    request_wait(c, process_mark(c->process, c->request.q.clock_ps));
}

void request_vmm_unmap_end(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct vmm_mapping *m = vmm_first(q->ptr);
    while (m && m->va < q->ptr + q->bytes) {
        struct vmm_mapping *next = m->next;
        vmm_unmap(m);
        m = next;
    }
}

/* True if all mappings in the range are multiples of this granularity. This follows NVIDIA's
 * samples, which size memory shared by several GPUs so; all GPUs that were available have 2 MiB. */
static bool granule_suits(const struct vgpu_request *q, uint64_t granule)
{
    for (struct vmm_mapping *m = vmm_first(q->ptr); m && m->va < q->ptr + q->bytes; m = m->next)
        if (m->bytes % granule != 0)
            return false;
    return true;
}

void request_vmm_access(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    int devices = machine->info.device_count;
    if (q->device < 0 || q->device >= devices ||
        (q->flags != 0 && q->flags != 1 && q->flags != 3)) {
        request_fail(c, VGPU_INVALID_VALUE,
                     "access %u for GPU %d: GPUs are 0 to %d, access is none (0), read (1) or both "
                     "(3)",
                     q->flags, q->device, devices - 1);
        return;
    }
    if (!requested_range(c))
        return;
    if (!mappings_fit(q, true)) {
        refuse_range(c, "not whole mappings that fill it; cuMemMap comes first");
        return;
    }
    if (q->flags && !granule_suits(q, machine->info.device[q->device].vmm_granule)) {
        refuse_range(c, "a mapping there is not a multiple of the granularity of the GPU that is "
                        "to have access: allocate multiples of the granularity of every such GPU");
        return;
    }
    order_flush(c->process->order);
    for (struct vmm_mapping *m = vmm_first(q->ptr); m && m->va < q->ptr + q->bytes; m = m->next)
        vmm_allow(m, q->device, (uint8_t)q->flags);
}

void request_vmm_get_access(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    struct vmm_mapping *m = vmm_first(q->ptr);
    if (!m || m->va > q->ptr || m->handle->owner != &c->process->memory || m->handle->window ||
        q->device < 0 || q->device >= machine->info.device_count)
        request_fail(c, VGPU_INVALID_VALUE, "nothing is mapped at %#llx, or there is no GPU %d",
                     (unsigned long long)q->ptr, q->device);
    else
        c->reply.r.value = m->mode[q->device];
}

/* SPDX-License-Identifier: MIT
 * request_device.c: requests about contexts, peer access and device code.
 */
#include "cold.h"
#include "counts.h"
#include "known_image.h"
#include "machine.h"
#include "reply.h"
#include "request.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "order.h"
#include "process.h"

void request_context(struct connection *c)
{
    request_cost(c, machine->cost.local_ps);
    request_device(c, c->request.q.device);
}

/* Queries the context without making it. */
void request_context_made(struct connection *c)
{
    int device = c->request.q.device;
    if (device < 0 || device >= machine->info.device_count)
        request_fail(c, VGPU_INVALID_DEVICE, "there is no GPU %d: the node has %d", device,
                     machine->info.device_count);
    else
        c->reply.r.value = c->process->memory.context[device];
}

void request_device_sync(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    node_counts.syncs++;
    if (request_device(c, q->device))
        request_wait(c, device_mark(c->process, q->device, q->clock_ps));
}

/* Recorded: after a sticky error the reset returns 0 and the next call 46. */
bool request_device_reset_check(struct connection *c)
{
    int device = c->request.q.device;
    if (c->process->sticky && device >= 0 && device < machine->info.device_count) {
        owner_set_context(&c->process->memory, device, false);
        c->reply.r.error = VGPU_SUCCESS;
        return false;
    }
    return request_device(c, device);
}

void request_device_reset_begin(struct connection *c)
{
    const struct vgpu_request *q = &c->request.q;
    request_wait(c, device_mark(c->process, q->device, q->clock_ps));
}

void request_device_reset_end(struct connection *c)
{
    process_reset_device(c->process, c->request.q.device);
}

/* Error codes and their order are recorded ([enable]): 101 if the device number is out of range,
 * then 1 for flags other than 0, then 217 for the device itself or one without peer access, then
 * 704. */
static bool check_peer(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    const struct vgpu_node_info *info = &machine->info;
    if (q->peer < 0 || q->peer >= info->device_count) {
        request_fail(c, VGPU_INVALID_DEVICE, "there is no GPU %d: the node has %d", q->peer,
                     info->device_count);
        return false;
    }
    return request_device(c, q->device);
}

static void note_peers(const struct process *process)
{
    struct vgpu_summary *counts = &node_counts;
    uint32_t on = 0;
    for (int d = 0; d < machine->info.device_count; d++)
        on += (uint32_t)__builtin_popcount(process->device[d].peers);
    counts->peers_most = on > counts->peers_most ? on : counts->peers_most;
}

void request_peer_enable(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    if (!check_peer(c))
        return;
    if (q->flags != 0) {
        request_fail(c, VGPU_INVALID_VALUE, "flags %#x: must be 0", q->flags);
        return;
    }
    if (!machine->info.pair[q->device][q->peer].access) {
        request_fail(c, VGPU_PEER_UNSUPPORTED,
                     "GPU %d cannot reach GPU %d: ask cudaDeviceCanAccessPeer first", q->device,
                     q->peer);
        return;
    }
    if (c->process->device[q->device].peers >> q->peer & 1) {
        c->reply.r.error = VGPU_PEER_ALREADY_ENABLED;
        return;
    }
    /* Work issued earlier must not see the new mapping. */
    order_flush(c->process->order);
    process_context(c->process, q->peer);
    process_set_peer(c->process, q->device, q->peer, true);
    cold_peer(c);
    node_counts.peers_enabled++;
    note_peers(c->process);
}

void request_peer_disable(struct connection *c)
{
    struct vgpu_request *q = &c->request.q;
    if (!check_peer(c))
        return;
    if (!(c->process->device[q->device].peers >> q->peer & 1)) {
        c->reply.r.error = VGPU_PEER_NOT_ENABLED;
        return;
    }
    order_flush(c->process->order);
    process_set_peer(c->process, q->device, q->peer, false);
}

/* The image must be sealed, so that it cannot change while contexts use it. */
void request_module(struct connection *c)
{
    struct process *p = c->process;
    int seals = c->request_fd < 0 ? -1 : fcntl(c->request_fd, F_GET_SEALS);
    int all = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    request_cost(c, 0);
    if (seals < 0 || (seals & all) != all) {
        request_fail(c, VGPU_INVALID_KERNEL_IMAGE, "the device image is not a fully sealed memfd");
        return;
    }
    if (!known_image(c->request_fd)) {
        request_fail(c, VGPU_INVALID_KERNEL_IMAGE,
                     "the device image is not one that this program was compiled to");
        return;
    }
    if (p->module_count == MAX_MODULES) {
        request_fail(c, VGPU_OUT_OF_MEMORY, "a program can have at most %d device images",
                     MAX_MODULES);
        return;
    }
    c->reply.r.value = (uint64_t)p->module_count;
    p->module_fd[p->module_count++] = c->request_fd;
    c->request_fd = -1;
}

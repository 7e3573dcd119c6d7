/* SPDX-License-Identifier: MIT
 * graph_check.c: checks of copies and fills that become graph nodes. They are stricter than those
 * of the same calls in streams (recorded: graph_copy, graph_memset).
 */
#include "graph.h"

/* The number of bytes from a device pointer to the end of its allocation; `wanted` if the node does
 * not know the pointer. */
static uint64_t reach_from(const char *call, const void *at, uint64_t wanted)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_POINTER);
    if (!request)
        return wanted;
    request->ptr = (uint64_t)(uintptr_t)at;
    if (vgpu__end(&reply) != cudaSuccess || reply->u.pointer.kind == 0)
        return wanted;
    return reply->u.pointer.reach;
}

static bool copy_fits(const struct vgpu__copy *c, const void *at)
{
    return c->rows != 1 || vgpu__place(at) != VGPU__DEVICE ||
           reach_from(c->call, at, c->width) >= c->width;
}

cudaError_t vgpu__graph_check_copy(const struct vgpu__copy *c)
{
    cudaError_t error = vgpu__copy_check(c);
    if (error != cudaSuccess)
        return error;
    if (c->width == 0 || c->rows == 0)
        return vgpu__refuse_value(c->call, "the copy has 0 bytes, which a graph does not accept");
    if (!copy_fits(c, c->dst) || !copy_fits(c, c->src))
        return vgpu__refuse_value(c->call, "the copy goes past the end of an allocation");
    return cudaSuccess;
}

cudaError_t vgpu__graph_check_memset(const char *call, const struct cudaMemsetParams *m)
{
    if (!m || (m->elementSize != 1 && m->elementSize != 2 && m->elementSize != 4))
        return vgpu__refuse_value(call,
                                  "no parameters, or elements that are not 1, 2 or 4 bytes long");
    if (m->width == 0 || m->height == 0)
        return vgpu__refuse_value(call, "the memset has 0 bytes, which a graph does not accept");
    if (m->height > 1 && m->pitch < m->width * m->elementSize)
        return vgpu__refuse_value(call, "a row is wider than the pitch");
    if (vgpu__place(m->dst) == VGPU__PAGEABLE)
        return vgpu__refuse_value(
            call, "the memory is the host's own: a kernel must be able to reach it");
    return cudaSuccess;
}

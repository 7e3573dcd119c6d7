/* SPDX-License-Identifier: MIT
 * staging.c: the way of pageable host memory into the node and back. The node cannot see a
 * program's pages, so the bytes travel through pinned memory of the node's. Each thread keeps one
 * range for it, which grows as needed: every copy to or from pageable memory is over when the call
 * returns, so there is one at a time.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <sys/mman.h>

#define KEEP_BYTES (256u << 20) /* a larger range goes back after its use */
#define LEAST_BYTES (1u << 20)

static void free_range(uint64_t address)
{
    struct vgpu_request *request = vgpu__begin("staging", VGPU_OP_STAGE_FREE);
    if (!request)
        return;
    request->ptr = address;
    vgpu__ask(-1, true, NULL);
}

static void drop(struct vgpu__wire *wire)
{
    uint64_t address = wire->stage;
    vgpu__stage_close(wire);
    if (address)
        free_range(address);
}

static cudaError_t take(struct vgpu__wire *wire, size_t bytes)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin("staging", VGPU_OP_STAGE_ALLOC);
    if (!request)
        return vgpu__failed();
    request->bytes = bytes;
    cudaError_t error = vgpu__ask(-1, true, &reply);
    if (error != cudaSuccess)
        return error;
    uint64_t address = reply->value;
    if (!vgpu__map_host(address, bytes)) {
        free_range(address);
        return cudaErrorOperatingSystem;
    }
    wire->stage = address;
    wire->stage_bytes = bytes;
    return cudaSuccess;
}

cudaError_t vgpu__stage(size_t bytes, uint64_t *address)
{
    struct vgpu__wire *wire = vgpu__self.wire;
    if (wire->stage_bytes < bytes) {
        size_t grown = wire->stage_bytes ? wire->stage_bytes : LEAST_BYTES;
        while (grown < bytes && grown < SIZE_MAX / 2)
            grown *= 2;
        drop(wire);
        cudaError_t error = take(wire, grown < bytes ? bytes : grown);
        if (error != cudaSuccess)
            return error;
    }
    *address = wire->stage;
    return cudaSuccess;
}

void vgpu__stage_trim(void)
{
    if (vgpu__self.wire && vgpu__self.wire->stage_bytes > KEEP_BYTES)
        drop(vgpu__self.wire);
}

void vgpu__stage_close(struct vgpu__wire *wire)
{
    if (wire->stage)
        munmap((void *)(uintptr_t)wire->stage, wire->stage_bytes);
    wire->stage = 0;
    wire->stage_bytes = 0;
}

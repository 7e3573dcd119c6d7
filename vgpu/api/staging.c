/* SPDX-License-Identifier: MIT
 * staging.c: the way of pageable host memory into the node and back. The node cannot see a
 * program's pages, so the bytes travel through pinned memory of the node's.
 *
 * Each thread keeps one range for copies that are over when the call returns, and makes it larger
 * as needed. An asynchronous copy to the device may be carried out much later: it gets a range of
 * its own, given up at once, which the node frees when that copy has been carried out.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <sys/mman.h>

#define KEEP_BYTES (32u << 20) /* a larger range goes back after its use */
#define STEP_BYTES (1u << 20)

static void free_range(uint64_t address)
{
    struct vgpu_request *request = vgpu__begin("staging", VGPU_OP_STAGE_FREE);
    if (!request)
        return;
    request->ptr = address;
    vgpu__ask(-1, true, NULL);
}

static cudaError_t take_range(size_t bytes, uint64_t *address)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin("staging", VGPU_OP_STAGE_ALLOC);
    if (!request)
        return vgpu__failed();
    request->bytes = bytes;
    cudaError_t error = vgpu__ask(-1, true, &reply);
    if (error != cudaSuccess)
        return error;
    *address = reply->value;
    if (vgpu__map_host(*address, bytes))
        return cudaSuccess;
    free_range(*address);
    return cudaErrorOperatingSystem;
}

static void drop_kept(struct vgpu__wire *wire)
{
    uint64_t address = wire->stage;
    vgpu__stage_close(wire);
    if (address)
        free_range(address);
}

cudaError_t vgpu__stage(size_t bytes, bool keep, uint64_t *address)
{
    struct vgpu__wire *wire = vgpu__self.wire;
    size_t whole = (bytes + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
    if (whole < bytes)
        return cudaErrorInvalidValue;
    if (!keep)
        return take_range(bytes, address);
    if (wire->stage_bytes < bytes) {
        drop_kept(wire);
        cudaError_t error = take_range(whole, &wire->stage);
        if (error != cudaSuccess) {
            wire->stage = 0;
            return error;
        }
        wire->stage_bytes = whole;
    }
    *address = wire->stage;
    return cudaSuccess;
}

void vgpu__stage_done(uint64_t address, size_t bytes, bool keep)
{
    if (keep && vgpu__self.wire->stage_bytes > KEEP_BYTES)
        drop_kept(vgpu__self.wire);
    if (keep)
        return;
    munmap((void *)(uintptr_t)address, bytes);
    free_range(address);
}

void vgpu__stage_close(struct vgpu__wire *wire)
{
    if (wire->stage)
        munmap((void *)(uintptr_t)wire->stage, wire->stage_bytes);
    wire->stage = 0;
    wire->stage_bytes = 0;
}

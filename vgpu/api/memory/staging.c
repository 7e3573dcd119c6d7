/* SPDX-License-Identifier: MIT
 * staging.c: staging buffers for pageable host memory. The node cannot access a program's pages, so
 * their bytes are copied through ranges of the process's pinned memory.
 *
 * Every copy to or from pageable memory ends before its call returns, so a buffer is in use for one
 * call. Buffers are kept for later calls and never returned to the node: there are as many as
 * threads have copied at once, each at most twice as large as its largest copy needed.
 */
#include "host_ranges.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STAGE_BYTES_MIN (1u << 20)
/* Of a larger buffer only the address range is kept, not the pages. */
#define KEEP_PAGES_BYTES (32u << 20)

static pthread_mutex_t stages_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu__stage *idle_stages; /* guarded by stages_lock; smallest first */

static struct vgpu__stage *take_idle_stage(size_t bytes)
{
    pthread_mutex_lock(&stages_lock);
    struct vgpu__stage **at = &idle_stages;
    while (*at && (*at)->bytes < bytes)
        at = &(*at)->next;
    struct vgpu__stage *stage = *at;
    if (stage)
        *at = stage->next;
    pthread_mutex_unlock(&stages_lock);
    return stage;
}

static void free_stage_at_node(uint64_t address)
{
    struct vgpu_request *request = vgpu__begin("staging", VGPU_OP_STAGE_FREE);
    if (!request)
        return;
    request->ptr = address;
    vgpu__ask(-1, true, NULL);
}

static cudaError_t make_stage(size_t bytes, struct vgpu__stage **out)
{
    const struct vgpu_reply *reply;
    struct vgpu__stage *stage = malloc(sizeof *stage);
    struct vgpu_request *request = vgpu__begin("staging", VGPU_OP_STAGE_ALLOC);
    cudaError_t error = cudaErrorUnknown;
    if (request && !stage)
        error = vgpu__no_memory(NULL);
    if (!request || !stage)
        goto fail;
    request->bytes = bytes;
    error = vgpu__ask(-1, true, &reply);
    if (error != cudaSuccess)
        goto fail;
    *stage = (struct vgpu__stage){reply->value, bytes, NULL};
    *out = stage;
    if (vgpu__map_host(stage->address, bytes))
        return cudaSuccess;
    free_stage_at_node(stage->address);
    error = cudaErrorOperatingSystem;
fail:
    free(stage);
    return request ? error : vgpu__failed();
}

cudaError_t vgpu__stage_take(size_t bytes, struct vgpu__stage **out)
{
    size_t whole = STAGE_BYTES_MIN;
    while (whole < bytes && whole <= SIZE_MAX / 2)
        whole *= 2;
    *out = take_idle_stage(bytes);
    return *out ? cudaSuccess : make_stage(whole < bytes ? bytes : whole, out);
}

void vgpu__stage_give(struct vgpu__stage *stage)
{
    if (stage->bytes > KEEP_PAGES_BYTES)
        madvise((void *)(uintptr_t)stage->address, stage->bytes, MADV_REMOVE);
    pthread_mutex_lock(&stages_lock);
    struct vgpu__stage **at = &idle_stages;
    while (*at && (*at)->bytes < stage->bytes)
        at = &(*at)->next;
    stage->next = *at;
    *at = stage;
    pthread_mutex_unlock(&stages_lock);
}

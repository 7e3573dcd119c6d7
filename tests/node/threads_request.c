/* SPDX-License-Identifier: MIT
 * threads_request.c: see threads_world.h. Every request of the protocol, about one of the objects.
 */
#include "threads_world.h"

#include <string.h>

/* Where a request has no object of its own it is about none: NOTHING. */
static const uint8_t usual[] = {
    [VGPU_OP_FREE] = DEVICE,
    [VGPU_OP_HOST_FREE] = HOST,
    [VGPU_OP_STAGE_FREE] = STAGE,
    [VGPU_OP_POINTER] = DEVICE,
    [VGPU_OP_STREAM_DESTROY] = STREAM,
    [VGPU_OP_STREAM_SYNC] = STREAM,
    [VGPU_OP_STREAM_QUERY] = STREAM,
    [VGPU_OP_STREAM_WAIT] = EVENT,
    [VGPU_OP_STREAM_INFO] = STREAM,
    [VGPU_OP_EVENT_DESTROY] = EVENT,
    [VGPU_OP_EVENT_RECORD] = EVENT,
    [VGPU_OP_EVENT_SYNC] = EVENT,
    [VGPU_OP_EVENT_QUERY] = EVENT,
    [VGPU_OP_EVENT_ELAPSED] = EVENT,
    [VGPU_OP_COPY] = DEVICE,
    [VGPU_OP_MEMSET] = DEVICE,
    [VGPU_OP_LAUNCH] = DEVICE,
    [VGPU_OP_POOL_EXPORT] = POOL,
    [VGPU_OP_POOL_EXPORT_PTR] = POOLED,
    [VGPU_OP_POOL_IMPORT_PTR] = IMPORTED,
    [VGPU_OP_POOL_DESTROY] = POOL,
    [VGPU_OP_POOL_SET_ACCESS] = POOL,
    [VGPU_OP_POOL_GET_ACCESS] = POOL,
    [VGPU_OP_POOL_SET] = POOL,
    [VGPU_OP_POOL_GET] = POOL,
    [VGPU_OP_POOL_MALLOC] = POOL,
    [VGPU_OP_POOL_FREE] = POOLED,
    [VGPU_OP_VMM_RELEASE] = HANDLE,
    [VGPU_OP_VMM_INFO] = HANDLE,
    [VGPU_OP_VMM_RETAIN] = RANGE,
    [VGPU_OP_VMM_EXPORT] = HANDLE,
    [VGPU_OP_VMM_FREE] = EMPTY,
    [VGPU_OP_VMM_MAP] = EMPTY,
    [VGPU_OP_VMM_UNMAP] = RANGE,
    [VGPU_OP_VMM_ACCESS] = RANGE,
    [VGPU_OP_VMM_GET_ACCESS] = RANGE,
    [VGPU_OP_IPC_EXPORT] = DEVICE,
    [VGPU_OP_IPC_CLOSE] = OPENED,
    [VGPU_OP_IPC_EVENT] = SHARED_EVENT,
    [VGPU_OP_HOST_TOUCH] = HOST,
};

enum object world_usual_object(uint32_t op)
{
    return op < sizeof usual / sizeof *usual ? (enum object)usual[op] : NOTHING;
}

bool world_ends(uint32_t op)
{
    return op == VGPU_OP_FREE || op == VGPU_OP_HOST_FREE || op == VGPU_OP_STAGE_FREE ||
           op == VGPU_OP_STREAM_DESTROY || op == VGPU_OP_EVENT_DESTROY || op == VGPU_OP_POOL_FREE ||
           op == VGPU_OP_POOL_DESTROY || op == VGPU_OP_VMM_RELEASE || op == VGPU_OP_VMM_FREE ||
           op == VGPU_OP_IPC_CLOSE;
}

/* A pinned one is the source, whatever else is the destination. */
static void fill_copy(struct vgpu_copy *copy, const struct world *w, enum object object)
{
    bool staged = object == STAGE;
    *copy = (struct vgpu_copy){.dst = w->of[staged ? DEVICE : object],
                               .src = w->of[staged ? STAGE : HOST],
                               .bytes = WORLD_BYTES,
                               .src_pageable = staged,
                               .sync = 1};
}

static void fill_launch(struct vgpu_request *q, uint64_t argument)
{
    for (int i = 0; i < 3; i++)
        q->u.launch.grid[i] = q->u.launch.block[i] = 1;
    q->u.launch.args_bytes = q->data_bytes = sizeof argument;
    memcpy(q->data, &argument, sizeof argument);
}

static void fill_data(struct vgpu_request *q, const char *text)
{
    q->data_bytes = (uint32_t)strlen(text);
    memcpy(q->data, text, q->data_bytes);
}

/* What only requests of one kind have. */
static void fill_special(struct message *m, const struct world *w, enum object object)
{
    struct vgpu_request *q = &m->ask.q;
    switch (q->op) {
    case VGPU_OP_MODULE:
        m->fd = exported.image_fd;
        break;
    case VGPU_OP_POOL_IMPORT:
        m->fd = exported.pool_fd;
        break;
    case VGPU_OP_VMM_IMPORT:
        m->fd = exported.handle_fd;
        break;
    case VGPU_OP_POOL_IMPORT_PTR:
        message_name(m, exported.pooled);
        break;
    case VGPU_OP_IPC_OPEN:
        message_name(m, exported.memory);
        break;
    case VGPU_OP_IPC_EVENT_OPEN:
        message_name(m, exported.event);
        break;
    case VGPU_OP_COPY:
        fill_copy(&q->u.copy, w, object);
        break;
    case VGPU_OP_MEMSET:
        q->u.memset = (struct vgpu_memset){.dst = w->of[object], .bytes = WORLD_BYTES, .width = 1};
        break;
    case VGPU_OP_LAUNCH:
        fill_launch(q, w->of[object]);
        break;
    case VGPU_OP_VAR:
    case VGPU_OP_FINDING:
        fill_data(q, "x");
        break;
    case VGPU_OP_GRAPH:
        q->value = q->bytes = 1;
        break;
    case VGPU_OP_HOST_FUNC:
        q->value = WORLD_FUNCTION;
        break;
    case VGPU_OP_HOST_KNOWN:
        q->data_bytes = sizeof(struct vgpu_step);
        break;
    case VGPU_OP_POOL_SET_ACCESS:
        q->device = 1;
        q->flags = 3;
        break;
    case VGPU_OP_POOL_SET: /* cudaMemPoolAttrReleaseThreshold */
    case VGPU_OP_POOL_GET:
        q->flags = 4;
        break;
    case VGPU_OP_VMM_ACCESS:
        q->flags = 3;
        break;
    case VGPU_OP_VMM_EXPORT:
        q->flags = 1;
        break;
    default:
        break;
    }
}

struct message world_request(const struct world *w, uint32_t op, enum object object)
{
    struct message m = MESSAGE(.op = op, .peer = 1, .bytes = WORLD_BYTES);
    struct vgpu_request *q = &m.ask.q;
    bool vmm = op >= VGPU_OP_VMM_CREATE && op <= VGPU_OP_VMM_GET_ACCESS;
    q->stream = w->of[STREAM];
    q->event = q->event2 = w->of[EVENT];
    q->value = op >= VGPU_OP_POOL_CREATE && op <= VGPU_OP_POOL_FREE ? w->of[POOL] : 0;
    if (vmm) {
        q->bytes = WORLD_GRANULE;
        q->value = w->of[HANDLE];
        q->event = 0;
    }
    if (object >= EVENT)
        q->event = q->event2 = w->of[object];
    else if (object >= POOL && object <= HANDLE)
        q->value = w->of[object];
    else if (object != STREAM)
        q->ptr = w->of[object];
    fill_special(&m, w, object);
    return m;
}

/* SPDX-License-Identifier: MIT
 * request_form.c: see request_form.h. A table lists the fields of each request.
 */
#include "request_form.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* Fields of a request, in addition to those of all requests (clock, caller, site, call, graph). */
enum field {
    DEVICE = 1 << 0, /* any number; the handler checks it */
    STREAM = 1 << 1, /* with the current device, which must exist */
    PEER = 1 << 2,
    FLAGS = 1 << 3,
    PRIORITY = 1 << 4,
    MODULE_NUMBER = 1 << 5,
    EVENT = 1 << 6,
    EVENT2 = 1 << 7,
    PTR = 1 << 8,
    BYTES = 1 << 9,
    VALUE = 1 << 10,
    COPY = 1 << 11,
    MEMSET = 1 << 12,
    LAUNCH = 1 << 13,
    HELLO = 1 << 14,
    DATA = 1 << 15,
    DESCRIPTOR = 1 << 16,
    QUEUES = 1 << 17 /* not a field: the request makes an operation that no call has to wait for */
};

#define STREAM_OF_DEVICE (STREAM | DEVICE)

static const uint32_t fields[] = {
    [VGPU_OP_HELLO] = HELLO | DESCRIPTOR,
    [VGPU_OP_THREAD] = 0,
    [VGPU_OP_WITNESS] = 0,
    [VGPU_OP_MODULE] = DESCRIPTOR,
    [VGPU_OP_MALLOC] = DEVICE | BYTES,
    [VGPU_OP_FREE] = PTR,
    [VGPU_OP_HOST_ALLOC] = DEVICE | BYTES | FLAGS | VALUE | PTR,
    [VGPU_OP_HOST_FREE] = PTR | FLAGS,
    [VGPU_OP_STAGE_ALLOC] = BYTES,
    [VGPU_OP_STAGE_FREE] = PTR,
    [VGPU_OP_CONTEXT_MADE] = DEVICE,
    [VGPU_OP_MEM_INFO] = DEVICE,
    [VGPU_OP_POINTER] = PTR,
    [VGPU_OP_CONTEXT] = DEVICE,
    [VGPU_OP_DEVICE_SYNC] = DEVICE,
    [VGPU_OP_DEVICE_RESET] = DEVICE,
    [VGPU_OP_PEER_ENABLE] = DEVICE | PEER | FLAGS,
    [VGPU_OP_PEER_DISABLE] = DEVICE | PEER | FLAGS,
    [VGPU_OP_STREAM_CREATE] = DEVICE | FLAGS | PRIORITY,
    [VGPU_OP_STREAM_DESTROY] = STREAM_OF_DEVICE,
    [VGPU_OP_STREAM_SYNC] = STREAM_OF_DEVICE,
    [VGPU_OP_STREAM_QUERY] = STREAM_OF_DEVICE,
    [VGPU_OP_STREAM_WAIT] = STREAM_OF_DEVICE | EVENT | FLAGS | QUEUES,
    [VGPU_OP_STREAM_INFO] = STREAM_OF_DEVICE,
    [VGPU_OP_EVENT_CREATE] = DEVICE | FLAGS,
    [VGPU_OP_EVENT_DESTROY] = EVENT,
    [VGPU_OP_EVENT_RECORD] = STREAM_OF_DEVICE | EVENT | FLAGS | QUEUES,
    [VGPU_OP_EVENT_SYNC] = EVENT,
    [VGPU_OP_EVENT_QUERY] = EVENT | FLAGS,
    [VGPU_OP_EVENT_ELAPSED] = EVENT | EVENT2,
    [VGPU_OP_COPY] = STREAM_OF_DEVICE | COPY | QUEUES,
    [VGPU_OP_MEMSET] = STREAM_OF_DEVICE | MEMSET | QUEUES,
    [VGPU_OP_LAUNCH] = STREAM_OF_DEVICE | LAUNCH | DATA | QUEUES,
    [VGPU_OP_POOL_CREATE] = DEVICE | FLAGS | BYTES,
    [VGPU_OP_POOL_EXPORT] = VALUE,
    [VGPU_OP_POOL_IMPORT] = DESCRIPTOR,
    [VGPU_OP_POOL_EXPORT_PTR] = PTR,
    [VGPU_OP_POOL_IMPORT_PTR] = VALUE | DATA,
    [VGPU_OP_POOL_DESTROY] = VALUE,
    [VGPU_OP_POOL_SET_ACCESS] = VALUE | DEVICE | FLAGS,
    [VGPU_OP_POOL_GET_ACCESS] = VALUE | DEVICE,
    [VGPU_OP_POOL_SET] = VALUE | FLAGS | BYTES,
    [VGPU_OP_POOL_GET] = VALUE | FLAGS,
    [VGPU_OP_POOL_MALLOC] = STREAM_OF_DEVICE | VALUE | BYTES,
    [VGPU_OP_POOL_FREE] = STREAM_OF_DEVICE | PTR | QUEUES,
    [VGPU_OP_VAR] = DEVICE | MODULE_NUMBER | DATA,
    [VGPU_OP_PRINTF] = 0,
    [VGPU_OP_VMM_CREATE] = DEVICE | BYTES | FLAGS,
    [VGPU_OP_VMM_RELEASE] = VALUE,
    [VGPU_OP_VMM_INFO] = VALUE,
    [VGPU_OP_VMM_RETAIN] = PTR,
    [VGPU_OP_VMM_EXPORT] = VALUE | FLAGS,
    [VGPU_OP_VMM_IMPORT] = DESCRIPTOR | DATA,
    [VGPU_OP_VMM_RESERVE] = BYTES | VALUE,
    [VGPU_OP_VMM_FREE] = PTR | BYTES,
    [VGPU_OP_VMM_MAP] = PTR | BYTES | VALUE | EVENT,
    [VGPU_OP_VMM_UNMAP] = PTR | BYTES,
    [VGPU_OP_VMM_ACCESS] = PTR | BYTES | DEVICE | FLAGS,
    [VGPU_OP_VMM_GET_ACCESS] = PTR | DEVICE,
    [VGPU_OP_IPC_EXPORT] = PTR,
    [VGPU_OP_IPC_OPEN] = DEVICE | DATA,
    [VGPU_OP_IPC_CLOSE] = PTR,
    [VGPU_OP_IPC_EVENT] = DEVICE | EVENT,
    [VGPU_OP_IPC_EVENT_OPEN] = DEVICE | DATA,
    [VGPU_OP_HOST_FUNC] = STREAM_OF_DEVICE | VALUE | QUEUES,
    [VGPU_OP_HOST_NEXT] = VALUE,
    [VGPU_OP_GRAPH] = STREAM_OF_DEVICE | VALUE | BYTES,
    [VGPU_OP_FINDING] = VALUE | DATA,
    [VGPU_OP_HOST_TOUCH] = PTR | FLAGS,
    [VGPU_OP_HOST_KNOWN] = DATA,
    [VGPU_OP_RANGE] = VALUE,
    [VGPU_OP_BYE] = VALUE | PTR,
    [VGPU_OP_SUMMARY] = 0,
    [VGPU_OP_TRACE] = VALUE,
    [VGPU_OP_SEAL] = BYTES | DESCRIPTOR,
    [VGPU_OP_LEAST_CHECKS] = VALUE,
    [VGPU_OP_PROGRAM] = 0,
    [VGPU_OP_OBSERVE] = 0,
};

enum { MOST_THREADS = 1 << 20, MOST_GRAPH_NODES = 1 << 24, MOST_GRAPH_GPUS = 64, PAGE = 4096 };
static const uint64_t most_clock_ps = 1ull << 61; /* 26 days */
#if defined(__aarch64__)
static const uint64_t end_of_addresses = 1ull << 48; /* a program's */
#else
static const uint64_t end_of_addresses = 1ull << 47;
#endif

/* ---- shapes ---- */

static uint32_t fields_of(const struct vgpu_request *q)
{
    return q->op < sizeof fields / sizeof *fields ? fields[q->op] : 0;
}

bool request_form_queues(const struct vgpu_request *q)
{
    return fields_of(q) & QUEUES;
}

bool request_form_takes_descriptor(const struct vgpu_request *q)
{
    return fields_of(q) & DESCRIPTOR;
}

/* Terminates a text and replaces control characters, which a terminal or the runtime (marks of
 * explain.h) would interpret. */
static void clean_line(char *text, size_t room)
{
    text[room - 1] = '\0';
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            *text = '?';
}

#define CLEAN(text) clean_line(text, sizeof(text))

static void clear_others(struct vgpu_request *q, uint32_t has)
{
    q->device = has & DEVICE ? q->device : 0;
    q->peer = has & PEER ? q->peer : 0;
    q->flags = has & FLAGS ? q->flags : 0;
    q->priority = has & PRIORITY ? q->priority : 0;
    q->module = has & MODULE_NUMBER ? q->module : 0;
    q->stream = has & STREAM ? q->stream : 0;
    q->event = has & EVENT ? q->event : 0;
    q->event2 = has & EVENT2 ? q->event2 : 0;
    q->ptr = has & PTR ? q->ptr : 0;
    q->bytes = has & BYTES ? q->bytes : 0;
    q->value = has & VALUE ? q->value : 0;
    if (!(has & (COPY | MEMSET | LAUNCH | HELLO)))
        memset(&q->u, 0, sizeof q->u);
}

static void settle_copy(struct vgpu_copy *c)
{
    c->dst_pageable = c->dst_pageable != 0;
    c->src_pageable = c->src_pageable != 0;
    c->sync = c->sync != 0;
    c->host_done = c->host_done != 0;
}

static void settle_fields(struct vgpu_request *q, uint32_t has, int device_count)
{
    bool of_device = q->stream == VGPU_STREAM_LEGACY || q->stream == VGPU_STREAM_PER_THREAD;
    clear_others(q, has);
    CLEAN(q->site);
    CLEAN(q->call);
    q->free = q->free != 0;
    if (has & STREAM && !of_device && (q->device < 0 || q->device >= device_count))
        /* The stream determines the device; this field is only the thread's current one. */
        q->device = 0;
    if (has & COPY)
        settle_copy(&q->u.copy);
    if (has & MEMSET) {
        q->u.memset.sync = q->u.memset.sync != 0;
        q->u.memset.wraps = 0;
    }
    if (has & LAUNCH)
        q->u.launch.cooperative = q->u.launch.cooperative != 0;
    if (has & HELLO) {
        CLEAN(q->u.hello.program);
        q->u.hello.strict = q->u.hello.strict != 0;
        q->u.hello.checks &= VGPU_CHECK_ALL;
    }
    if (q->op == VGPU_OP_FINDING && q->data_bytes > 0)
        for (uint32_t i = 0; i < q->data_bytes; i++)
            if (q->data[i] < ' ' && q->data[i] != '\n' && (q->data[i] < 1 || q->data[i] > 3))
                q->data[i] = '?';
}

/* ---- ranges ---- */

struct bound {
    const char *name;
    uint64_t value, most;
};

static bool check_bounds(const struct bound *b, size_t count, char *why, size_t room)
{
    for (size_t i = 0; i < count; i++)
        if (b[i].value > b[i].most) {
            snprintf(why, room, "%s is %llu, and at most %llu is possible", b[i].name,
                     (unsigned long long)b[i].value, (unsigned long long)b[i].most);
            return false;
        }
    return true;
}

#define WITHIN(why, room, ...)                                                                     \
    check_bounds((const struct bound[]){__VA_ARGS__},                                              \
                 sizeof((const struct bound[]){__VA_ARGS__}) / sizeof(struct bound), why, room)

static bool refuse_form(char *why, size_t room, const char *what)
{
    snprintf(why, room, "%s", what);
    return false;
}

static bool special_fits(const struct vgpu_request *q, char *why, size_t room)
{
    switch (q->op) {
    case VGPU_OP_HELLO:
        return q->u.hello.pid >= 0 || refuse_form(why, room, "its process has a negative number");
    case VGPU_OP_HOST_ALLOC:
        if (q->value == VGPU_HOST_REGISTERED && (q->ptr % PAGE || q->ptr >= end_of_addresses))
            return refuse_form(why, room, "what it registers is no page of a program");
        return WITHIN(why, room, {"the kind of memory", q->value, VGPU_HOST_OBJECTS});
    case VGPU_OP_COPY:
        return WITHIN(why, room, {"the kind of copy", (uint32_t)q->u.copy.api, VGPU_COPY_PEER});
    case VGPU_OP_GRAPH:
        return WITHIN(why, room, {"the number of its nodes", q->value, MOST_GRAPH_NODES},
                      {"the number of its GPUs", q->bytes, MOST_GRAPH_GPUS});
    case VGPU_OP_FINDING:
        return WITHIN(why, room, {"the number of a finding", q->value, VGPU_DIAGNOSES - 1});
    case VGPU_OP_LAUNCH:
        return WITHIN(why, room,
                      {"the number of parameters", q->u.launch.param_count, VGPU_PARAMS_MAX},
                      {"the kind of collective", q->u.launch.collective.kind, VGPU_COLLECTIVES - 1},
                      {"the number of ranks", q->u.launch.collective.ranks, VGPU_RANKS_MAX},
                      {"the rank", q->u.launch.collective.rank, VGPU_RANKS_MAX - 1});
    case VGPU_OP_HOST_KNOWN:
        return q->data_bytes % sizeof(struct vgpu_step) == 0 ||
               refuse_form(why, room, "it is no whole number of steps");
    default:
        return true;
    }
}

bool request_form_check(struct vgpu_request *q, int device_count, char *why, size_t room)
{
    uint32_t has = fields_of(q);
    if (q->data_bytes && !(has & DATA))
        return refuse_form(why, room, "it came with data");
    settle_fields(q, has, device_count);
    return WITHIN(why, room, {"its clock in ps", q->clock_ps, most_clock_ps},
                  {"the number of threads", (uint32_t)q->unregistered, MOST_THREADS},
                  {"its place in a graph", q->graph & VGPU_GRAPH_PLACE, VGPU_GRAPH_NEXT},
                  {"its part in a graph", q->graph, VGPU_GRAPH_MORE * MOST_GRAPH_GPUS}) &&
           special_fits(q, why, room);
}

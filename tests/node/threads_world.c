/* SPDX-License-Identifier: MIT
 * threads_world.c: see threads_world.h.
 */
#include "threads_world.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "wire.h"

#define BYTES WORLD_BYTES
#define GRANULE WORLD_GRANULE
#define INTERPROCESS 6 /* cudaEventInterprocess | cudaEventDisableTiming */

struct exported exported;

/* ---- asking ---- */

void message_send(struct client *c, struct message *m)
{
    struct vgpu_request *q = &m->ask.q;
    q->clock_ps = c->clock_ps;
    CHECK(vgpu_send(c->fd, q, sizeof *q + q->data_bytes, &m->fd, m->fd >= 0) == 0,
          "request %u: the node is gone", q->op);
}

/* The descriptor that comes with the answer, or -1. */
static int ask_message(struct client *c, struct message *m)
{
    int fds[2], count = 2;
    message_send(c, m);
    CHECK(vgpu_receive(c->fd, &c->reply, sizeof c->reply, fds, &count, 0) > 0,
          "request %u: the node is gone, or does not answer", m->ask.q.op);
    c->clock_ps = c->reply.r.clock_ps;
    return count > 0 ? fds[0] : -1;
}

static uint64_t value_of(struct client *c, struct message m)
{
    ask_message(c, &m);
    CHECK(c->reply.r.error == 0, "request %u: %d, %s", m.ask.q.op, c->reply.r.error,
          c->reply.r.explain);
    return c->reply.r.value;
}

void message_name(struct message *m, const uint8_t name[NAME_BYTES])
{
    memcpy(m->ask.q.data, name, NAME_BYTES);
    m->ask.q.data_bytes = NAME_BYTES;
}

static uint64_t value_named(struct client *c, struct message m, const uint8_t name[NAME_BYTES])
{
    message_name(&m, name);
    return value_of(c, m);
}

static uint64_t value_with(struct client *c, struct message m, int fd)
{
    m.fd = fd;
    return value_of(c, m);
}

/* ---- threads ---- */

static void start_thread(const struct client *program, struct client *c)
{
    struct vgpu_request q = {.op = VGPU_OP_THREAD, .clock_ps = program->clock_ps};
    const struct timeval patience = {.tv_sec = 30};
    int count = 1;
    CHECK(vgpu_send(program->fd, &q, sizeof q, NULL, 0) == 0, "the node is gone");
    CHECK(vgpu_receive(program->fd, &c->reply, sizeof c->reply, &c->fd, &count, 0) > 0 &&
              count == 1,
          "no thread");
    c->clock_ps = program->clock_ps;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

void world_start_thread(struct world *w, struct client *c)
{
    start_thread(w->program, c);
}

void world_end_thread(struct world *w, struct client *c)
{
    if (c->clock_ps > w->program->clock_ps)
        w->program->clock_ps = c->clock_ps;
    close(c->fd);
    c->fd = -1;
}

/* ---- the other program ---- */

static void export_name(struct client *c, struct message m, uint8_t name[NAME_BYTES])
{
    value_of(c, m);
    memcpy(name, c->reply.r.data, NAME_BYTES);
}

static int export_fd(struct client *c, struct message m)
{
    int fd = ask_message(c, &m);
    CHECK(fd >= 0, "request %u: no descriptor: %s", m.ask.q.op, c->reply.r.explain);
    return fd;
}

static int sealed_image(void)
{
    int fd = memfd_create("image", MFD_ALLOW_SEALING);
    CHECK(fd >= 0 &&
              fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0,
          "no sealed image");
    return fd;
}

void world_start_exporter(const char *tag)
{
    static struct client program, c;
    client_join(&program, tag);
    start_thread(&program, &c);
    uint64_t memory = client_malloc(&c, 0, BYTES);
    export_name(&c, MESSAGE(.op = VGPU_OP_IPC_EXPORT, .ptr = memory), exported.memory);
    uint64_t event = value_of(&c, MESSAGE(.op = VGPU_OP_EVENT_CREATE, .flags = INTERPROCESS));
    export_name(&c, MESSAGE(.op = VGPU_OP_IPC_EVENT, .event = event), exported.event);
    client_record(&c, event, VGPU_STREAM_LEGACY);
    uint64_t pool = value_of(&c, MESSAGE(.op = VGPU_OP_POOL_CREATE, .flags = 1));
    exported.pool_fd = export_fd(&c, MESSAGE(.op = VGPU_OP_POOL_EXPORT, .value = pool));
    uint64_t pooled = value_of(&c, MESSAGE(.op = VGPU_OP_POOL_MALLOC, .value = pool, .bytes = BYTES,
                                           .stream = VGPU_STREAM_LEGACY));
    export_name(&c, MESSAGE(.op = VGPU_OP_POOL_EXPORT_PTR, .ptr = pooled), exported.pooled);
    uint64_t handle = value_of(&c, MESSAGE(.op = VGPU_OP_VMM_CREATE, .bytes = GRANULE, .flags = 1));
    exported.handle_fd =
        export_fd(&c, MESSAGE(.op = VGPU_OP_VMM_EXPORT, .value = handle, .flags = 1));
    exported.image_fd = sealed_image();
    close(c.fd);
}

/* ---- the world ---- */

static void make_pool(struct world *w)
{
    w->of[POOL] = value_of(w->maker, MESSAGE(.op = VGPU_OP_POOL_CREATE, .flags = 1));
}

static void make_pooled(struct world *w)
{
    w->of[POOLED] = value_of(w->maker, MESSAGE(.op = VGPU_OP_POOL_MALLOC, .value = w->of[POOL],
                                               .bytes = BYTES, .stream = VGPU_STREAM_LEGACY));
}

static void make_event(struct world *w, enum object object)
{
    w->of[object] = value_of(w->maker, MESSAGE(.op = VGPU_OP_EVENT_CREATE,
                                               .flags = object == SHARED_EVENT ? INTERPROCESS : 0));
}

static void make_mapping(struct world *w)
{
    struct client *c = w->maker;
    struct message map = MESSAGE(.op = VGPU_OP_VMM_MAP, .ptr = w->of[RANGE], .bytes = GRANULE);
    w->of[HANDLE] = value_of(c, MESSAGE(.op = VGPU_OP_VMM_CREATE, .bytes = GRANULE, .flags = 1));
    map.ask.q.value = w->of[HANDLE];
    value_of(c, map);
    map.ask.q.op = VGPU_OP_VMM_ACCESS;
    map.ask.q.flags = 3;
    value_of(c, map);
}

static uint64_t make_range(struct world *w)
{
    return value_of(w->maker, MESSAGE(.op = VGPU_OP_VMM_RESERVE, .bytes = GRANULE));
}

static void open_memory(struct world *w)
{
    w->of[OPENED] = value_named(w->maker, MESSAGE(.op = VGPU_OP_IPC_OPEN), exported.memory);
}

static void open_event(struct world *w)
{
    w->of[OPENED_EVENT] =
        value_named(w->maker, MESSAGE(.op = VGPU_OP_IPC_EVENT_OPEN), exported.event);
}

static void take_pooled(struct world *w)
{
    w->of[TAKEN] =
        value_named(w->maker, MESSAGE(.op = VGPU_OP_POOL_IMPORT_PTR, .value = w->of[IMPORTED]),
                    exported.pooled);
}

static void import_pool(struct world *w)
{
    w->of[IMPORTED] = value_with(w->maker, MESSAGE(.op = VGPU_OP_POOL_IMPORT), exported.pool_fd);
    take_pooled(w);
}

static uint64_t make_stage(struct world *w)
{
    return value_of(w->maker, MESSAGE(.op = VGPU_OP_STAGE_ALLOC, .bytes = BYTES));
}

/* What a reset of the GPU takes. */
static void make_for_device(struct world *w)
{
    w->of[DEVICE] = client_malloc(w->maker, 0, BYTES);
    w->of[STREAM] = client_stream(w->maker, 0, 0);
    make_event(w, EVENT);
    make_event(w, SHARED_EVENT);
    make_pool(w);
    make_pooled(w);
    open_memory(w);
    open_event(w);
    take_pooled(w);
}

void world_begin(struct world *w, const char *tag)
{
    static struct client program, maker;
    w->program = &program;
    w->maker = &maker;
    client_join(w->program, tag);
    world_start_thread(w, w->maker);
    value_with(w->maker, MESSAGE(.op = VGPU_OP_MODULE), exported.image_fd);
    w->of[HOST] = client_host(w->maker, BYTES);
    w->of[STAGE] = make_stage(w);
    w->of[RANGE] = make_range(w);
    w->of[EMPTY] = make_range(w);
    make_mapping(w);
    import_pool(w);
    make_for_device(w);
    world_end_thread(w, w->maker);
}

void world_end(struct world *w)
{
    client_end(w->program);
}

/* ---- between two pairs of requests ---- */

static void map_again(struct world *w)
{
    struct client *c = w->maker;
    struct message m = MESSAGE(.op = VGPU_OP_VMM_UNMAP, .ptr = w->of[RANGE], .bytes = GRANULE);
    ask_message(c, &m);
    m = MESSAGE(.op = VGPU_OP_VMM_RELEASE, .value = w->of[HANDLE]);
    ask_message(c, &m);
    make_mapping(w);
}

/* It counts how often it was opened. */
static void open_once(struct world *w)
{
    do {
        struct message m = MESSAGE(.op = VGPU_OP_IPC_CLOSE, .ptr = w->of[OPENED]);
        ask_message(w->maker, &m);
    } while (w->maker->reply.r.error == 0);
    open_memory(w);
}

static void free_range(struct world *w)
{
    struct message m = MESSAGE(.op = VGPU_OP_VMM_UNMAP, .ptr = w->of[EMPTY], .bytes = GRANULE);
    ask_message(w->maker, &m);
    m = MESSAGE(.op = VGPU_OP_VMM_FREE, .ptr = w->of[EMPTY], .bytes = GRANULE);
    ask_message(w->maker, &m);
    w->of[EMPTY] = make_range(w);
}

static void mend_object(struct world *w, enum object object)
{
    switch (object) {
    case DEVICE:
        w->of[DEVICE] = client_malloc(w->maker, 0, BYTES);
        break;
    case HOST:
        w->of[HOST] = client_host(w->maker, BYTES);
        break;
    case STAGE:
        w->of[STAGE] = make_stage(w);
        break;
    case POOL:
    case POOLED: /* the pool may be gone, too */
        make_pool(w);
        make_pooled(w);
        break;
    case RANGE:
    case HANDLE:
        map_again(w);
        break;
    case EMPTY:
        free_range(w);
        break;
    case OPENED:
        open_once(w);
        break;
    case IMPORTED:
        import_pool(w);
        break;
    case TAKEN:
        take_pooled(w);
        break;
    case STREAM:
        w->of[STREAM] = client_stream(w->maker, 0, 0);
        break;
    case OPENED_EVENT:
        open_event(w);
        break;
    default:
        make_event(w, object);
    }
}

void world_mend(struct world *w, uint32_t op, enum object object)
{
    if (op == VGPU_OP_DEVICE_RESET)
        make_for_device(w);
    else if (op == VGPU_OP_IPC_OPEN)
        open_once(w);
    else if (world_ends(op) || op == VGPU_OP_VMM_MAP || op == VGPU_OP_VMM_UNMAP ||
             op == VGPU_OP_VMM_RETAIN)
        mend_object(w, object);
}

void world_put_to_work(struct world *w)
{
    static const enum object used[] = {DEVICE, POOLED, RANGE, OPENED, TAKEN};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        client_copy(w->maker, w->of[STREAM], w->of[used[i]], w->of[HOST], BYTES);
    client_record(w->maker, w->of[EVENT], w->of[STREAM]);
    client_record(w->maker, w->of[SHARED_EVENT], w->of[STREAM]);
}

void world_add_function(struct world *w)
{
    value_of(w->maker,
             MESSAGE(.op = VGPU_OP_HOST_FUNC, .stream = w->of[STREAM], .value = WORLD_FUNCTION));
}

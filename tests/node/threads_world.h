/* SPDX-License-Identifier: MIT
 * threads_world.h: one object of each kind that a program can have, its own and another program's,
 * for test_threads.c; and every request about them.
 */
#ifndef THREADS_WORLD_H
#define THREADS_WORLD_H

#include <stdbool.h>

#include "client.h"

#define WORLD_BYTES (64u << 10)
#define WORLD_GRANULE (2u << 20) /* of RANGE, EMPTY and HANDLE */
#define NAME_BYTES 64            /* of a handle for another process */
#define WORLD_FUNCTION 7         /* of the program: what the node calls it by */

enum object {
    NOTHING,
    DEVICE, /* memory: cudaMalloc, pinned, for staging, of a pool */
    HOST,
    STAGE,
    POOLED,
    RANGE, /* of addresses: with HANDLE mapped there; with nothing */
    EMPTY,
    OPENED, /* another program's memory; of its pool */
    TAKEN,
    POOL,
    IMPORTED, /* another program's pool */
    HANDLE,
    STREAM,
    EVENT,
    SHARED_EVENT, /* between processes; another program's */
    OPENED_EVENT,
    OBJECTS
};

struct world {
    struct client *program; /* hands out connections of threads, and asks nothing else */
    struct client *maker;   /* a thread that makes objects */
    uint64_t of[OBJECTS];
};

/* A request, with a descriptor or -1. */
struct message {
    int fd;
    union {
        struct vgpu_request q;
        uint8_t room[sizeof(struct vgpu_request) + 64];
    } ask;
};

#define MESSAGE(...)                                                                               \
    (struct message)                                                                               \
    {                                                                                              \
        .fd = -1, .ask.q = { __VA_ARGS__ }                                                         \
    }

void message_name(struct message *m, const uint8_t name[NAME_BYTES]);
void message_send(struct client *c, struct message *m);

/* What the other program has exported; and an image. */
extern struct exported {
    uint8_t memory[NAME_BYTES], event[NAME_BYTES], pooled[NAME_BYTES];
    int pool_fd, handle_fd, image_fd;
} exported;

/* The other program, on the node of `tag`, whose objects are imported. It stays. */
void world_start_exporter(const char *tag);

/* A program with one of each. */
void world_begin(struct world *w, const char *tag);
void world_end(struct world *w);

/* Connections of threads of the program. No thread lives longer than it has to: the others' waits
 * would wait for its clock. */
void world_start_thread(struct world *w, struct client *c);
void world_end_thread(struct world *w, struct client *c);

/* Makes anew what a request about `object` may have ended or changed; by a thread that was started.
 */
void world_mend(struct world *w, uint32_t op, enum object object);

/* Work that uses the memory, in STREAM, recorded in the events. */
void world_put_to_work(struct world *w);
void world_add_function(struct world *w); /* of the program, behind that work */

enum object world_usual_object(uint32_t op);
struct message world_request(const struct world *w, uint32_t op, enum object object);
bool world_ends(uint32_t op); /* it ends an object, which only one of two can do */

#endif

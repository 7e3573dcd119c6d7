/* SPDX-License-Identifier: MIT
 * client.h: a program's side of the protocol, bare, for tests of the node alone.
 */
#ifndef TEST_CLIENT_H
#define TEST_CLIENT_H

#include <stdint.h>

#include "protocol.h"

struct client {
    int fd;
    uint64_t clock_ps;
    uint8_t *host; /* the host arena, mapped here */
    union {
        struct vgpu_reply r;
        char room[VGPU_MSG_MAX];
    } reply;
};

/* Starts a node of its own (id from the process and `tag`) on description `node`, and connects. */
void client_start(struct client *c, const char *node, const char *tag);
/* The same with VGPU_CHECK's bits; and another program on the node of `tag`. */
void client_start_checked(struct client *c, const char *node, const char *tag, uint32_t checks);
/* The same, and nobody is there but a witness. */
void client_start_quiet(struct client *w, const char *node, const char *tag);
void client_join(struct client *c, const char *tag);
void client_witness(struct client *c, const char *tag); /* joins the node of `tag` as a witness */
void client_knock(struct client *c, const char *tag);   /* connects, and says nothing yet */
void client_end(struct client *c);

/* Sends `q` with the client's clock; the reply is in c->reply. Returns its error code. */
int client_ask(struct client *c, struct vgpu_request *q);

/* The everyday calls; they stop the test when the node refuses. */
uint64_t client_malloc(struct client *c, int device, uint64_t bytes);
uint64_t client_host(struct client *c, uint64_t bytes);
uint64_t client_stream(struct client *c, int device, uint32_t flags);
uint64_t client_event(struct client *c, int device);
void client_copy(struct client *c, uint64_t stream, uint64_t dst, uint64_t src, uint64_t bytes);
void client_record(struct client *c, uint64_t event, uint64_t stream);
void client_wait(struct client *c, uint64_t stream, uint64_t event);
void client_sync(struct client *c, uint64_t stream);
void client_peer(struct client *c, int device, int peer);
double client_elapsed_us(struct client *c, uint64_t start, uint64_t stop);
static inline void *client_view(struct client *c, uint64_t address)
{
    return c->host + (address - VGPU_HOST_VA);
}

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__);                             \
    } while (0)
void check_failed(const char *file, int line, const char *what, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

#endif

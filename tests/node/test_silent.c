/* SPDX-License-Identifier: MIT
 * test_silent.c: a program that sends requests and reads no answers. The node answers others, drops
 * that one, and says so behind the answers that are not read.
 */
#include "client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "wire.h"

#define REQUESTS 5000

/* How many the node has taken before it closed the connection. */
static int send_only(struct client *c)
{
    struct vgpu_request q = {.op = VGPU_OP_MEM_INFO};
    int sent = 0;
    while (sent < REQUESTS) {
        if (vgpu_send_now(c->fd, &q, sizeof q, NULL, 0) == 0) {
            sent++;
            continue;
        }
        if (errno != EAGAIN)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return sent;
}

int main(void)
{
    const struct timeval patience = {.tv_sec = 20};
    struct client silent, other;
    struct vgpu_request q = {.op = VGPU_OP_MEM_INFO};
    client_start(&silent, "single", "silent");
    client_join(&other, "silent");
    setsockopt(other.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (int i = 0; i < 400; i++) /* one is enough to be told nothing, 217 blocked the node */
        vgpu_send_now(silent.fd, &q, sizeof q, NULL, 0);
    CHECK(client_ask(&other, &q) == 0, "%s", other.reply.r.explain);
    int sent = send_only(&silent), answers = 0;
    CHECK(sent < REQUESTS, "%d requests, and the node still takes them", sent);
    while (vgpu_receive(silent.fd, &silent.reply, sizeof silent.reply, NULL, NULL, 0) > 0)
        answers++;
    CHECK(answers > 0 && silent.reply.r.error == 999 &&
              strstr(silent.reply.r.explain, "read no answers"),
          "after %d answers: %d, %s", answers, silent.reply.r.error, silent.reply.r.explain);
    CHECK(client_ask(&other, &q) == 0, "%s", other.reply.r.explain);
    printf("dropped after %d answers that it did not read\n", answers);
    client_end(&silent);
    client_end(&other);
    return 0;
}

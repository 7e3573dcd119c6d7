/* SPDX-License-Identifier: MIT
 * messages.c: what comes over a socket: requests cut at every byte and with other lengths, and
 * descriptors that nobody asked for. Their sender is dropped or answered, and others go on.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "served.h"
#include "unit.h"
#include "wire.h"

enum { WORKER, BYSTANDER };

/* NULL: the other program's calls are answered, and the node ends in order. */
static const char *others_go_on(struct served *s)
{
    struct vgpu_request q = {.op = VGPU_OP_MALLOC, .bytes = 4096};
    if (served_ask(s, BYSTANDER, &q) != 0)
        return unit_says("the other program's call answers %d: %s", s->reply.r.error,
                         s->reply.r.explain);
    return served_end(s);
}

static union request whole_request(void)
{
    union request request = {.q = {.op = VGPU_OP_LAUNCH, .call = "kernel"}};
    request.q.u.launch.grid[0] = request.q.u.launch.block[0] = 1;
    request.q.u.launch.args_bytes = request.q.data_bytes = 24;
    return request;
}

UNIT(requests_are_cut_at_every_byte)
{
    union request request = whole_request();
    size_t all = sizeof request.q + request.q.data_bytes;
    for (size_t bytes = 1; bytes <= all; bytes += bytes < 16 || bytes + 40 > all ? 1 : 37) {
        struct served s;
        served_start(&s);
        EXPECT(served_hello(&s, WORKER) == 0 && served_hello(&s, BYSTANDER) == 0, "%s", "no hello");
        int error = served_send(&s, WORKER, &request, bytes);
        EXPECT((error < 0) == (bytes < all), "%zu of %zu bytes: answered %d", bytes, all, error);
        const char *wrong = others_go_on(&s);
        EXPECT(!wrong, "%zu of %zu bytes: %s", bytes, all, wrong);
    }
}

UNIT(first_words_may_be_anything)
{
    for (uint32_t op = 0; op < 80; op += 3) {
        struct served s;
        union request request = {.q = {.op = op * 0x01010101u + op}};
        memset(&request.q.u, (int)op, sizeof request.q.u);
        served_start(&s);
        EXPECT(served_hello(&s, BYSTANDER) == 0, "%s", "no hello");
        served_send(&s, WORKER, &request, sizeof request.q);
        const char *wrong = others_go_on(&s);
        EXPECT(!wrong, "%u first: %s", op, wrong);
    }
}

/* ---- wire.c alone ---- */

static int open_count(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void make_pair(int pair[2])
{
    EXPECT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "%s", "no sockets");
}

UNIT(a_message_comes_whole_or_not_at_all)
{
    char sent[200], got[200];
    int pair[2];
    make_pair(pair);
    memset(sent, 'x', sizeof sent);
    for (size_t bytes = 1; bytes <= sizeof sent; bytes++)
        for (size_t room = 1; room <= sizeof got; room += 13) {
            EXPECT(vgpu_send(pair[0], sent, bytes, NULL, 0) == 0, "%zu bytes are not sent", bytes);
            ssize_t count = vgpu_receive(pair[1], got, room, NULL, NULL, 0);
            bool fits = bytes <= room;
            EXPECT(fits ? count == (ssize_t)bytes : count == -1 && errno == EMSGSIZE,
                   "%zu bytes in room for %zu: %zd", bytes, room, count);
        }
    close(pair[0]);
    EXPECT(vgpu_receive(pair[1], got, sizeof got, NULL, NULL, 0) == 0, "%s", "the end is not 0");
    close(pair[1]);
}

UNIT(what_was_sent_before_a_reset_is_received)
{
    char byte = 'q', got = 0;
    int pair[2];
    make_pair(pair);
    EXPECT(vgpu_send(pair[0], &byte, 1, NULL, 0) == 0, "%s", "the question is not sent");
    byte = 'a';
    EXPECT(vgpu_send(pair[1], &byte, 1, NULL, 0) == 0, "%s", "the answer is not sent");
    close(pair[1]); /* the question was not read */
    ssize_t count = vgpu_receive(pair[0], &got, 1, NULL, NULL, 0);
    EXPECT(count == 1 && got == 'a', "%zd, %s", count, strerror(errno));
    EXPECT(vgpu_receive(pair[0], &got, 1, NULL, NULL, 0) == 0, "%s", "the end is not 0");
    close(pair[0]);
}

UNIT(descriptors_beyond_the_room_are_closed)
{
    int pair[2], sent[VGPU_WIRE_FDS], got[VGPU_WIRE_FDS];
    char byte = 1;
    make_pair(pair);
    for (int i = 0; i < VGPU_WIRE_FDS; i++)
        sent[i] = pair[0];
    int before = open_count();
    for (int count = 0; count <= VGPU_WIRE_FDS; count++)
        for (int room = 0; room <= VGPU_WIRE_FDS; room += 5) {
            int came = room, fits = count < room ? count : room;
            EXPECT(vgpu_send(pair[0], &byte, 1, sent, count) == 0, "%d are not sent", count);
            EXPECT(vgpu_receive(pair[1], &byte, 1, room ? got : NULL, room ? &came : NULL, 0) == 1,
                   "%d descriptors: no message", count);
            EXPECT(came == fits, "%d of %d in room for %d", came, count, room);
            for (int i = 0; i < came; i++) {
                EXPECT(fcntl(got[i], F_GETFD) == FD_CLOEXEC, "%d is not closed on exec", got[i]);
                close(got[i]);
            }
        }
    EXPECT(open_count() == before, "%d descriptors are left open", open_count() - before);
    EXPECT(vgpu_send(pair[0], &byte, 1, sent, VGPU_WIRE_FDS + 1) == -1 && errno == EINVAL, "%s",
           "too many are sent");
}

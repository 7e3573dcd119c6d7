/* SPDX-License-Identifier: MIT
 * pair.c: the second process of programs that have two. It does what it is told, one operation a
 * message; before the word goes over, each side waits for its GPUs, so that all is ordered.
 */
#include "fuzz.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct message {
    int index; /* an operation's, -1 begin, -2 end */
    struct fuzz_program program;
};

struct answer {
    int length;
    bool dead;
};

static int words[2] = {-1, -1};       /* sockets: messages and answers */
static int descriptors[2] = {-1, -1}; /* sockets: one descriptor a message */
static int mine;                      /* this process's end */
static pid_t other;
static struct fuzz_program told;
static int kept[FUZZ_CHUNKS] = {-1, -1, -1, -1};

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "fuzz: %s failed between the two processes\n", what);
    _exit(9);
}

static void all(ssize_t (*call)(int, void *, size_t), void *at, size_t bytes)
{
    for (char *p = (char *)at; bytes > 0;) {
        ssize_t n = call(words[mine], p, bytes);
        if (n <= 0 && mine == 1)
            _exit(0); /* the first process is gone */
        must(n > 0, "a message");
        p += n;
        bytes -= (size_t)n;
    }
}

static ssize_t put(int to, void *at, size_t bytes)
{
    return send(to, at, bytes, MSG_NOSIGNAL);
}

static void send_answer(void)
{
    struct answer a = {state.length, state.dead};
    all(put, &a, sizeof a);
    all(put, state.text, (size_t)a.length);
}

bool pair_crashed(void)
{
    if (mine == 1)
        send_answer();
    return mine == 1;
}

static void answer_for(int index)
{
    state.length = 0;
    if (index == -1) {
        state_begin(&told, 1);
    } else if (index == -2) {
        state_end();
    } else {
        run_op(index);
        sync_all();
    }
    send_answer();
}

void pair_forget(void)
{
    for (int i = 0; i < FUZZ_CHUNKS; i++) {
        int d = pair_take_descriptor(i);
        if (d >= 0)
            close(d);
    }
}

static void serve(void)
{
    mine = 1;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        struct message m;
        all(read, &m, sizeof m);
        if (m.index == -1) {
            pair_forget();
            told = m.program;
        }
        answer_for(m.index);
    }
}

void pair_start(void)
{
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, words) == 0, "socketpair");
    must(socketpair(AF_UNIX, SOCK_DGRAM, 0, descriptors) == 0, "socketpair");
    other = fork();
    must(other >= 0, "fork");
    if (other == 0) {
        close(words[0]);
        close(descriptors[0]);
        serve();
    }
    close(words[1]);
    close(descriptors[1]);
}

void pair_run(int index)
{
    static struct message m;
    struct answer a;
    if (index != -1)
        sync_all();
    m.index = index;
    m.program = *state.program;
    all(put, &m, sizeof m);
    all(read, &a, sizeof a);
    must(state.length + a.length < FUZZ_TEXT, "room for the text");
    all(read, state.text + state.length, (size_t)a.length);
    state.length += a.length;
    state.text[state.length] = 0;
    state.dead = state.dead || a.dead;
}

void pair_send_descriptor(int descriptor, int slot)
{
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec data = {&slot, sizeof slot};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.space,
                       .msg_controllen = sizeof control.space};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &descriptor, sizeof descriptor);
    must(sendmsg(descriptors[mine], &m, MSG_DONTWAIT | MSG_NOSIGNAL) > 0, "a descriptor");
}

/* What has come so far goes to its slot. */
static bool received(void)
{
    int slot = -1;
    union {
        char space[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec data = {&slot, sizeof slot};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.space,
                       .msg_controllen = sizeof control.space};
    if (recvmsg(descriptors[mine], &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
        return false;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    must(c && slot >= 0 && slot < FUZZ_CHUNKS, "a descriptor");
    if (kept[slot] >= 0)
        close(kept[slot]);
    memcpy(&kept[slot], CMSG_DATA(c), sizeof(int));
    return true;
}

int pair_take_descriptor(int slot)
{
    while (received())
        ;
    int descriptor = kept[slot];
    kept[slot] = -1;
    return descriptor;
}

/* SPDX-License-Identifier: MIT
 * broken_node.c: loaded into a vgpu-node (LD_PRELOAD), which then fails in the middle of its work,
 * with the message NODE_BREAKS_AT that it sends. NODE_BREAKS says how:
 *
 *     segv      it is ended by signal 11
 *     stop      it stops, and answers nothing from then on
 *     nonsense  that message and all later ones are bytes without a meaning
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static const char *how;
static int at;

/* What the node starts does not break. */
__attribute__((constructor)) static void read_orders(void)
{
    const char *number = getenv("NODE_BREAKS_AT");
    how = getenv("NODE_BREAKS");
    at = number ? atoi(number) : 0;
    unsetenv("LD_PRELOAD");
}

static void break_now(const struct msghdr *message)
{
    if (strcmp(how, "segv") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "stop") == 0)
        raise(SIGSTOP);
    for (size_t i = 0; i < message->msg_iovlen; i++)
        memset(message->msg_iov[i].iov_base, 0xee, message->msg_iov[i].iov_len);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, const struct msghdr *, int);
    static int sent;
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sendmsg");
    if (how && ++sent >= at)
        break_now(message);
    return real(socket, message, flags);
}

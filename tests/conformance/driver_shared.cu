// SPDX-License-Identifier: MIT
// driver_shared.cu: allocations handed on by the process that made them, and by one that imported
// them.
#include "ask.h"

#include <sys/socket.h>
#include <unistd.h>

static const size_t granule = 2 << 20;
static const CUmemAllocationHandleType descriptor = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

static CUmemGenericAllocationHandle made(void)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp p = {};
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.requestedHandleTypes = descriptor;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    OK(cuMemCreate(&handle, granule, &p, 0));
    return handle;
}

/* A message of one byte with room for one descriptor beside it. */
struct parcel {
    alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))];
    char nothing;
    struct iovec data;
    struct msghdr message;
};

static struct msghdr *packed(struct parcel *p)
{
    memset(p, 0, sizeof *p);
    p->data = {&p->nothing, 1};
    p->message.msg_iov = &p->data;
    p->message.msg_iovlen = 1;
    p->message.msg_control = p->space;
    p->message.msg_controllen = sizeof p->space;
    return &p->message;
}

static void send_descriptor(int to, int fd)
{
    struct parcel p;
    struct cmsghdr *c = CMSG_FIRSTHDR(packed(&p));
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    OK(sendmsg(to, &p.message, 0) != 1);
}

static int take_descriptor(int from)
{
    int fd = -1;
    struct parcel p;
    OK(recvmsg(from, packed(&p), 0) != 1);
    struct cmsghdr *c = CMSG_FIRSTHDR(&p.message);
    OK(c == NULL);
    memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

/* What an imported allocation says of itself, and whether it can be handed on. */
static void hand_on(CUmemGenericAllocationHandle handle)
{
    CUmemAllocationProp p = {};
    int fd = -1;
    D(cuMemGetAllocationPropertiesFromHandle(&p, handle));
    V("handle types %d", (int)p.requestedHandleTypes);
    D(cuMemExportToShareableHandle(&fd, handle, descriptor, 0));
    V("descriptor %d", fd >= 0);
}

CASE(driver_export_own)
{
    CUmemGenericAllocationHandle mine, again;
    int fd = -1;
    ask_context(0);
    mine = made();
    D(cuMemExportToShareableHandle(&fd, mine, descriptor, 0));
    D(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd, descriptor));
    hand_on(again);
    D(cuMemRelease(mine));
    hand_on(again);
    D(cuMemRelease(again));
}

CASE(driver_export_imported)
{
    int ends[2];
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    if (fork() == 0) {
        int fd = -1;
        char word;
        ask_context(0);
        CUmemGenericAllocationHandle handle = made();
        OK(cuMemExportToShareableHandle(&fd, handle, descriptor, 0));
        send_descriptor(ends[1], fd);
        close(ends[0]);
        _exit(read(ends[1], &word, 1) < 0); /* until the other end is gone */
    }
    CUmemGenericAllocationHandle handle;
    int fd = take_descriptor(ends[0]);
    ask_context(0);
    D(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd, descriptor));
    hand_on(handle);
    D(cuMemRelease(handle));
}

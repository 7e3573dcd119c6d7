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

static void send_descriptor(int to, int fd)
{
    char nothing = 0, space[CMSG_SPACE(sizeof fd)] = {};
    struct iovec data = {&nothing, 1};
    struct msghdr m = {};
    m.msg_iov = &data;
    m.msg_iovlen = 1;
    m.msg_control = space;
    m.msg_controllen = sizeof space;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    OK(sendmsg(to, &m, 0) != 1);
}

static int take_descriptor(int from)
{
    int fd = -1;
    char nothing, space[CMSG_SPACE(sizeof fd)] = {};
    struct iovec data = {&nothing, 1};
    struct msghdr m = {};
    m.msg_iov = &data;
    m.msg_iovlen = 1;
    m.msg_control = space;
    m.msg_controllen = sizeof space;
    OK(recvmsg(from, &m, 0) != 1);
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
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

/* SPDX-License-Identifier: MIT
 * descriptor.c: an allocation handed to another process as a descriptor, through a Unix socket. It
 * outlives the giver's release, lies at another address, and both see each other's stores; a
 * descriptor that the node did not make is refused.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>

#include "expect.h"

#undef OK
#define OK(call) EXPECT_IS(call, CUDA_SUCCESS)

static size_t g;

static CUmemAllocationProp prop(int device)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static void start(int device)
{
    CUcontext context;
    CUmemAllocationProp p = prop(device);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
}

static CUdeviceptr show(CUmemGenericAllocationHandle handle, int device)
{
    CUdeviceptr at;
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                              CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemAddressReserve(&at, g, 0, 0, 0));
    OK(cuMemMap(at, g, 0, handle, 0));
    OK(cuMemSetAccess(at, g, &access, 1));
    return at;
}

static void hide(CUdeviceptr at)
{
    OK(cuMemUnmap(at, g));
    OK(cuMemAddressFree(at, g));
}

static int peek(CUdeviceptr at)
{
    int value = -1;
    OK(cuMemcpyDtoH(&value, at, sizeof value));
    return value;
}

/* ---- over the socket ---- */

union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
};

static void send_fd(int socket, int fd)
{
    char byte = 'f';
    union control control = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    EXPECT_IS(sendmsg(socket, &message, 0), 1);
}

static int receive_fd(int socket)
{
    char byte;
    int fd = -1;
    union control control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    EXPECT_IS(recvmsg(socket, &message, 0), 1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static void tell(int socket)
{
    EXPECT_IS(write(socket, "x", 1), 1);
}

static void hear(int socket)
{
    char byte;
    EXPECT_IS(read(socket, &byte, 1), 1);
}

/* ---- the two sides ---- */

static void give(int socket)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp p;
    int fd;
    start(0);
    p = prop(0);
    OK(cuMemCreate(&handle, g, &p, 0));
    CUdeviceptr at = show(handle, 0);
    OK(cuMemsetD32(at, 41, 4));
    OK(cuCtxSynchronize());
    OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    send_fd(socket, fd);
    close(fd);
    hear(socket); /* the other side has written */
    EXPECT_IS(peek(at), 42);
    hide(at);
    OK(cuMemRelease(handle));
    EXPECT_IS(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    tell(socket); /* and now all that was ours is gone */
    hear(socket);
}

static void take(int socket)
{
    CUmemGenericAllocationHandle handle, forged;
    CUmemAllocationProp p;
    start(1);
    int fd = receive_fd(socket), other = memfd_create("no allocation", 0);
    EXPECT_IS(cuMemImportFromShareableHandle(&forged, (void *)(intptr_t)other,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_ERROR_UNKNOWN);
    OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    OK(cuMemGetAllocationPropertiesFromHandle(&p, handle));
    EXPECT_IS(p.location.id, 0);
    CUdeviceptr at = show(handle, 1);
    EXPECT_IS(peek(at), 41);
    OK(cuMemcpyHtoD(at, &(int){42}, sizeof(int)));
    tell(socket);
    hear(socket);
    EXPECT_IS(peek(at), 42); /* outlives the giver's release */
    hide(at);
    OK(cuMemRelease(handle));
    tell(socket);
}

int main(void)
{
    int pair[2], status;
    EXPECT_IS(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    pid_t child = fork();
    if (child == 0) {
        close(pair[0]);
        take(pair[1]);
        return 0;
    }
    close(pair[1]);
    give(pair[0]);
    waitpid(child, &status, 0);
    EXPECT_IS(status, 0);
    return 0;
}

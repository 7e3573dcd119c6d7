// SPDX-License-Identifier: MIT
// descriptor_out.cu: allocates 64 MiB, sends them as a descriptor through the socket whose number
// it is given, and ends at once: with a word, or without (killed by itself).
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cuda.h>

#define DRV(call)                                                                                  \
    do {                                                                                           \
        CUresult result = (call);                                                                  \
        if (result != CUDA_SUCCESS) {                                                              \
            fprintf(stderr, "line %d: %d\n", __LINE__, (int)result);                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void send_fd(int socket, int fd)
{
    char byte = 'f';
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {&byte, 1};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(socket, &message, 0) != 1)
        exit(1);
}

int main(int argc, char **argv)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop;
    int fd;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    DRV(cuInit(0));
    DRV(cuMemCreate(&handle, (size_t)64 << 20, &prop, 0));
    DRV(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    send_fd(atoi(argv[1]), fd);
    if (argc > 2)
        kill(getpid(), SIGKILL);
    return 0;
}

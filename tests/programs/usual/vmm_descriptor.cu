// SPDX-License-Identifier: MIT
// vmm_descriptor.cu: a parent that makes no CUDA call starts one process a GPU. Each allocates with
// virtual memory management, sends its allocation to all others as a file descriptor through Unix
// sockets, and maps all of them beside each other, so that every process sees one long array whose
// parts lie on different GPUs. Then all write into everybody's part at once.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks;

#define DRV(call)                                                                                  \
    do {                                                                                           \
        CUresult result = (call);                                                                  \
        if (result != CUDA_SUCCESS) {                                                              \
            const char *text = "unknown error";                                                    \
            cuGetErrorString(result, &text);                                                       \
            fprintf(stderr, "process %d, line %d: %s: %s\n", rank, __LINE__, #call, text);         \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static const int MAX_RANKS = 8;
static const CUmemAllocationHandleType TYPE = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

struct Shared {
    volatile int arrived, generation;
};
static Shared *shared;
static int mailbox[MAX_RANKS][2]; // a socket a process: [0] to write to it, [1] its own

static void barrier()
{
    int generation = shared->generation;
    if (__sync_add_and_fetch(&shared->arrived, 1) == ranks) {
        shared->arrived = 0;
        __sync_synchronize();
        shared->generation = generation + 1;
    } else {
        while (shared->generation == generation)
            usleep(50);
    }
    __sync_synchronize();
}

static void sendDescriptor(int to, int fd)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message;
    struct iovec part = {&rank, sizeof rank};
    memset(&message, 0, sizeof message);
    memset(&control, 0, sizeof control);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(mailbox[to][0], &message, 0) != (ssize_t)sizeof rank) {
        perror("sendmsg");
        _exit(1);
    }
}

// Returns the descriptor; who sent it is told.
static int receiveDescriptor(int *from)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message;
    struct iovec part = {from, sizeof *from};
    int fd = -1;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.room;
    message.msg_controllen = sizeof control.room;
    if (recvmsg(mailbox[rank][1], &message, 0) != (ssize_t)sizeof *from) {
        perror("recvmsg");
        _exit(1);
    }
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

__global__ void stamp(int *array, int perPart, int parts, int rank)
{
    int slice = perPart / parts; // of each part, this process writes its own slice
    for (int part = 0; part < parts; part++)
        for (int i = threadIdx.x; i < slice; i += blockDim.x)
            array[part * perPart + rank * slice + i] = (part * 100 + rank) * 1000 + i % 1000;
}

static CUmemGenericAllocationHandle allocate(int device, size_t *bytes)
{
    CUmemGenericAllocationHandle handle;
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    prop.requestedHandleTypes = TYPE;
    DRV(cuMemGetAllocationGranularity(bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    DRV(cuMemCreate(&handle, *bytes, &prop, 0));
    return handle;
}

// Everybody's allocation behind each other; the order is that of the processes.
static void mapAll(CUdeviceptr base, size_t bytes, CUmemGenericAllocationHandle own, int device)
{
    int fd, from;
    DRV(cuMemExportToShareableHandle(&fd, own, TYPE, 0));
    for (int to = 0; to < ranks; to++)
        sendDescriptor(to, fd);
    close(fd);
    DRV(cuMemRelease(own)); // from here on the descriptors hold it
    for (int i = 0; i < ranks; i++) {
        CUmemGenericAllocationHandle handle;
        fd = receiveDescriptor(&from);
        DRV(cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)fd, TYPE));
        close(fd);
        DRV(cuMemMap(base + from * bytes, bytes, 0, handle, 0));
        DRV(cuMemRelease(handle));
    }
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRV(cuMemSetAccess(base, bytes * ranks, &access, 1));
}

static int check(CUdeviceptr base, size_t bytes)
{
    int perPart = (int)(bytes / sizeof(int)), slice = perPart / ranks;
    int *all = (int *)malloc(bytes);
    for (int part = 0; part < ranks; part++) {
        DRV(cuMemcpyDtoH(all, base + part * bytes, bytes));
        for (int i = 0; i < slice * ranks; i++)
            if (all[i] != (part * 100 + i / slice) * 1000 + i % slice % 1000) {
                printf("process %d: part %d, element %d holds %d\n", rank, part, i, all[i]);
                return 1;
            }
    }
    free(all);
    return 0;
}

static int child()
{
    CUcontext context;
    CUdeviceptr base;
    size_t bytes;
    DRV(cuInit(0));
    DRV(cuDevicePrimaryCtxRetain(&context, rank));
    DRV(cuCtxSetCurrent(context));
    CUmemGenericAllocationHandle own = allocate(rank, &bytes);
    DRV(cuMemAddressReserve(&base, bytes * ranks, 0, 0, 0));
    mapAll(base, bytes, own, rank);
    stamp<<<1, 256>>>((int *)base, (int)(bytes / sizeof(int)), ranks, rank);
    DRV(cuCtxSynchronize());
    barrier();
    int bad = check(base, bytes);
    barrier();
    DRV(cuMemUnmap(base, bytes * ranks));
    DRV(cuMemAddressFree(base, bytes * ranks));
    DRV(cuDevicePrimaryCtxRelease(rank));
    return bad;
}

// In a process of its own: a parent that has used CUDA could not fork any more.
static int usableGpus()
{
    int gpus = 0, can = 1;
    DRV(cuInit(0));
    DRV(cuDeviceGetCount(&gpus));
    for (int i = 0; i < gpus; i++)
        for (int j = 0; j < gpus && can; j++)
            if (i != j)
                DRV(cuDeviceCanAccessPeer(&can, i, j));
    return !can ? 1 : gpus < MAX_RANKS ? gpus : MAX_RANKS;
}

int main()
{
    int status, bad = 0;
    shared = (Shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fork() == 0)
        _exit(usableGpus());
    wait(&status);
    ranks = WEXITSTATUS(status);
    for (int i = 0; i < ranks; i++)
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, mailbox[i]) != 0)
            return 1;
    for (rank = 0; rank < ranks; rank++)
        if (fork() == 0) {
            alarm(60);
            bad = child();
            fflush(stdout);
            _exit(bad);
        }
    for (int i = 0; i < ranks; i++) {
        wait(&status);
        bad |= status != 0;
    }
    printf("%d processes, one array: %s\n", ranks, bad ? "FAIL" : "PASS");
    return bad;
}

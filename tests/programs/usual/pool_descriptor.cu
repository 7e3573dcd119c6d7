// SPDX-License-Identifier: MIT
// pool_descriptor.cu: a memory pool shared between processes: its descriptor goes over a Unix
// socket (SCM_RIGHTS), the pointers into it as plain bytes. For each GPU, the parent allocates in
// stream order and fills; a child that was forked before any CUDA call imports, checks, and answers
// there.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CUDA_CHECK(call)                                                                           \
    do {                                                                                           \
        cudaError_t err_ = (call);                                                                 \
        if (err_ != cudaSuccess) {                                                                 \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(err_));       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const int kBuffers = 3, kCount = 100003;

__global__ void fill(int *p, int n, int base)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = base + i;
}

__global__ void negate(int *p, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = -p[i];
}

static void send_descriptor(int socket, int fd)
{
    char byte = 0, room[CMSG_SPACE(sizeof fd)] = {};
    iovec part = {&byte, 1};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(socket, &message, 0) != 1)
        exit(1);
}

static int receive_descriptor(int socket)
{
    char byte, room[CMSG_SPACE(sizeof(int))];
    int fd;
    iovec part = {&byte, 1};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
        exit(1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static void whole(bool ok)
{
    if (!ok) {
        fprintf(stderr, "the other side has gone\n");
        exit(1);
    }
}

static int wrong(const int *p, int sign, int base)
{
    static int h[kCount];
    int count = 0;
    CUDA_CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < kCount; i++)
        count += h[i] != sign * (base + i);
    return count;
}

static void import_one(int device, int socket)
{
    cudaMemPool_t pool;
    cudaStream_t stream;
    cudaMemPoolPtrExportData data[kBuffers];
    int fd = receive_descriptor(socket), *p, bad = 0;
    CUDA_CHECK(cudaSetDevice(device));
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)fd,
                                                    cudaMemHandleTypePosixFileDescriptor, 0));
    close(fd);
    whole(read(socket, data, sizeof data) == (ssize_t)sizeof data);
    for (int b = 0; b < kBuffers; b++) {
        CUDA_CHECK(cudaMemPoolImportPointer((void **)&p, pool, &data[b]));
        bad += wrong(p, 1, 1000 * b + device);
        negate<<<8, 128, 0, stream>>>(p, kCount);
        if (b % 2 == 0)
            CUDA_CHECK(cudaFreeAsync(p, stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        if (b % 2 != 0)
            CUDA_CHECK(cudaFree(p));
    }
    CUDA_CHECK(cudaMemPoolDestroy(pool));
    whole(write(socket, &bad, sizeof bad) == (ssize_t)sizeof bad);
}

static int export_one(int device, int socket)
{
    cudaMemPool_t pool;
    cudaStream_t stream;
    cudaMemPoolProps props = {};
    cudaMemPoolPtrExportData data[kBuffers];
    int fd = -1, *p[kBuffers], bad;
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    CUDA_CHECK(cudaSetDevice(device));
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaMemPoolCreate(&pool, &props));
    CUDA_CHECK(
        cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    send_descriptor(socket, fd);
    close(fd);
    for (int b = 0; b < kBuffers; b++) {
        CUDA_CHECK(cudaMallocFromPoolAsync((void **)&p[b], kCount * sizeof(int), pool, stream));
        fill<<<8, 128, 0, stream>>>(p[b], kCount, 1000 * b + device);
        CUDA_CHECK(cudaMemPoolExportPointer(&data[b], p[b]));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream));
    whole(write(socket, data, sizeof data) == (ssize_t)sizeof data);
    whole(read(socket, &bad, sizeof bad) == (ssize_t)sizeof bad);
    for (int b = 0; b < kBuffers; b++) {
        bad += wrong(p[b], -1, 1000 * b + device);
        CUDA_CHECK(cudaFreeAsync(p[b], stream));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(cudaMemPoolDestroy(pool));
    return bad;
}

int main()
{
    int pair[2], gpus, bad = 0, status;
    whole(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    pid_t child = fork();
    int socket = pair[child == 0];
    close(pair[child != 0]);
    CUDA_CHECK(cudaGetDeviceCount(&gpus));
    for (int d = 0; d < gpus; d++)
        if (child == 0)
            import_one(d, socket);
        else
            bad += export_one(d, socket);
    if (child == 0)
        return 0;
    waitpid(child, &status, 0);
    bool passed = bad == 0 && status == 0;
    printf("%s: %d GPUs, %d wrong, child status %x\n", passed ? "PASS" : "FAIL", gpus, bad, status);
    return !passed;
}

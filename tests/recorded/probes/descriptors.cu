// SPDX-License-Identifier: MIT
// descriptors.cu: how long a descriptor of an allocation or of a pool holds what it names, and what
// the driver's pool calls answer; for descriptors.txt. Each case is a process of its own.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, CUresult e)
{
    const char *name = "?";
    cuGetErrorName(e, &name);
    printf("    %s -> %d %s\n", what, (int)e, name);
    fflush(stdout);
}
#define D(x) say(#x, (x))
#define V(...) (printf("    " __VA_ARGS__), putchar('\n'), fflush(stdout))

static const CUmemAllocationHandleType FD = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
static const size_t BIG = 512ul << 20;
static CUcontext context;
static size_t before;

static void start()
{
    size_t total;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    cuMemGetInfo(&before, &total);
}

// What is in use more than at the start.
static void used(const char *when)
{
    size_t free, total;
    cuMemGetInfo(&free, &total);
    V("%s: %ld MiB in use", when, (long)(before - free) >> 20);
}

static CUmemAllocationProp prop()
{
    CUmemAllocationProp p;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = FD;
    return p;
}

static CUmemAccessDesc access_of(int device)
{
    CUmemAccessDesc a;
    memset(&a, 0, sizeof a);
    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.location.id = device;
    a.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return a;
}

static CUdeviceptr show(CUmemGenericAllocationHandle h)
{
    CUdeviceptr at = 0;
    CUmemAccessDesc a = access_of(0);
    D(cuMemAddressReserve(&at, BIG, 0, 0, 0));
    D(cuMemMap(at, BIG, 0, h, 0));
    D(cuMemSetAccess(at, BIG, &a, 1));
    return at;
}

static void hide(CUdeviceptr at)
{
    D(cuMemUnmap(at, BIG));
    D(cuMemAddressFree(at, BIG));
}

// An allocation with 77 in it, of which only a descriptor is left.
static int only_a_descriptor()
{
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp p = prop();
    int fd = -1;
    D(cuMemCreate(&h, BIG, &p, 0));
    used("created");
    CUdeviceptr at = show(h);
    D(cuMemsetD32(at, 77, 16));
    D(cuCtxSynchronize());
    D(cuMemExportToShareableHandle(&fd, h, FD, 0));
    hide(at);
    D(cuMemRelease(h));
    used("handle released");
    return fd;
}

static void look(int fd)
{
    CUmemGenericAllocationHandle h;
    int value = -1;
    D(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, FD));
    CUdeviceptr at = show(h);
    D(cuMemcpyDtoH(&value, at, sizeof value));
    V("holds %d", value);
    hide(at);
    D(cuMemRelease(h));
}

static void c_fd_holds()
{
    start();
    int fd = only_a_descriptor(), second = dup(fd);
    close(fd);
    used("one of two descriptors closed");
    close(second);
    used("both closed");
}

static void c_fd_import()
{
    start();
    int fd = only_a_descriptor();
    look(fd);
    used("imported and released");
    look(fd);
    close(fd);
    used("closed");
}

static void c_fd_twice()
{
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp p = prop();
    int a = -1, b = -1;
    start();
    D(cuMemCreate(&h, BIG, &p, 0));
    D(cuMemExportToShareableHandle(&a, h, FD, 0));
    D(cuMemExportToShareableHandle(&b, h, FD, 0));
    D(cuMemRelease(h));
    close(a);
    used("one of two exports closed");
    close(b);
    used("both closed");
    D(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)b, FD));
}

union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
};

static struct msghdr message_of(struct iovec *part, union control *control)
{
    struct msghdr m;
    memset(&m, 0, sizeof m);
    m.msg_iov = part;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof *control;
    return m;
}

static void send_fd(int socket, int fd)
{
    char byte = 'f';
    union control control;
    struct iovec part = {&byte, 1};
    memset(&control, 0, sizeof control);
    struct msghdr m = message_of(&part, &control);
    struct cmsghdr *head = CMSG_FIRSTHDR(&m);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(socket, &m, 0) != 1)
        V("cannot send");
}

static int receive_fd(int socket)
{
    char byte;
    int fd = -1;
    union control control;
    struct iovec part = {&byte, 1};
    struct msghdr m = message_of(&part, &control);
    if (recvmsg(socket, &m, 0) != 1)
        V("cannot receive");
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}

static void c_fd_in_flight()
{
    int pair[2];
    start();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return;
    int fd = only_a_descriptor();
    send_fd(pair[0], fd);
    close(fd);
    used("on its way");
    fd = receive_fd(pair[1]);
    look(fd);
    send_fd(pair[0], fd);
    close(fd);
    close(pair[0]);
    close(pair[1]);
    used("lost on its way");
}

// The exporter ends before the importer makes its first call.
static void c_fd_exporter_gone()
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        start();
        send_fd(pair[0], only_a_descriptor());
        _exit(0);
    }
    waitpid(child, NULL, 0);
    start();
    int fd = receive_fd(pair[1]);
    look(fd);
    close(fd);
    used("closed");
}

// What is no descriptor of an allocation.
static void c_fd_refused()
{
    start();
    int fd = only_a_descriptor(), flags = fcntl(fd, F_GETFD);
    V("close on exec %d", flags & FD_CLOEXEC);
    D(cuMemImportFromShareableHandle(NULL, (void *)(intptr_t)fd, FD));
    CUmemGenericAllocationHandle h;
    D(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_NONE));
    int null = open("/dev/null", O_RDONLY);
    D(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)null, FD));
    D(cuMemImportFromShareableHandle(&h, (void *)(intptr_t)-1, FD));
}

static CUmemPoolProps pool_props()
{
    CUmemPoolProps p;
    memset(&p, 0, sizeof p);
    p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.handleTypes = FD;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return p;
}

static void c_pool_calls()
{
    CUmemoryPool pool = 0, other = 0;
    CUmemPoolProps p = pool_props();
    CUdeviceptr a = 0, b = 0;
    cuuint64_t bytes = 7;
    int flag = -1;
    CUmemLocation here = p.location;
    CUmemAccess_flags got = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    CUmemAccessDesc access = access_of(0);
    D(cuMemPoolCreate(&pool, &p));
    start();
    D(cuMemPoolCreate(&pool, &p));
    D(cuMemPoolCreate(NULL, &p));
    D(cuMemPoolCreate(&other, NULL));
    D(cuMemAllocFromPoolAsync(&a, 4096, pool, 0));
    D(cuMemAllocFromPoolAsync(&b, 0, pool, 0));
    D(cuMemAllocFromPoolAsync(NULL, 4096, pool, 0));
    D(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    V("in use %llu", (unsigned long long)bytes);
    D(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes));
    V("threshold %llu", (unsigned long long)bytes);
    bytes = 1 << 20;
    D(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes));
    D(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
    D(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &flag));
    V("reuse %d", flag);
    D(cuMemPoolGetAccess(&got, pool, &here));
    V("access %d", (int)got);
    D(cuMemPoolSetAccess(pool, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    D(cuMemPoolSetAccess(pool, &access, 1));
    D(cuMemFreeAsync(a, 0));
    D(cuMemFreeAsync(a, 0));
    D(cuCtxSynchronize());
    D(cuMemPoolTrimTo(pool, 0));
    D(cuDeviceGetDefaultMemPool(&other, 0));
    D(cuMemPoolDestroy(other));
    D(cuDeviceSetMemPool(0, pool));
    D(cuDeviceGetMemPool(&other, 0));
    V("the same pool %d", other == pool);
    D(cuMemAllocAsync(&a, 4096, 0));
    D(cuMemFree(a));
    D(cuMemPoolDestroy(pool));
    D(cuMemPoolDestroy(pool = NULL));
    D(cuDeviceGetDefaultMemPool(&other, 99));
}

struct shared {
    volatile int stage;
    CUmemPoolPtrExportData data;
};

static void reach(struct shared *s, int stage)
{
    while (s->stage < stage)
        usleep(500);
}

static void pool_giver(struct shared *s, int socket)
{
    CUmemoryPool pool, plain;
    CUmemPoolProps p = pool_props();
    CUdeviceptr at;
    int fd = -1;
    start();
    D(cuMemPoolCreate(&pool, &p));
    p.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    D(cuMemPoolCreate(&plain, &p));
    D(cuMemPoolExportToShareableHandle(&fd, plain, FD, 0));
    D(cuMemPoolExportToShareableHandle(&fd, pool, FD, 1));
    D(cuMemPoolExportToShareableHandle(&fd, pool, FD, 0));
    D(cuMemAllocFromPoolAsync(&at, 4096, pool, 0));
    D(cuMemsetD32Async(at, 55, 16, 0));
    D(cuCtxSynchronize());
    D(cuMemPoolExportPointer(&s->data, at));
    D(cuMemPoolImportPointer(&at, pool, &s->data));
    send_fd(socket, fd);
    close(fd);
    s->stage = 1;
    reach(s, 2);
    D(cuMemFreeAsync(at, 0));
    D(cuCtxSynchronize());
    s->stage = 3;
    reach(s, 4);
}

static void pool_taker(struct shared *s, int socket)
{
    CUmemoryPool pool = 0;
    CUdeviceptr at = 0, no;
    int value = -1;
    reach(s, 1);
    start();
    int fd = receive_fd(socket);
    D(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fd, FD, 0));
    D(cuMemPoolImportPointer(&at, pool, &s->data));
    D(cuMemAllocFromPoolAsync(&no, 4096, pool, 0));
    D(cuMemcpyDtoH(&value, at, sizeof value));
    V("holds %d", value);
    D(cuMemFreeAsync(at, 0));
    D(cuCtxSynchronize());
    s->stage = 2;
    reach(s, 3);
    D(cuMemPoolDestroy(pool));
    s->stage = 4;
}

static void c_pool_processes()
{
    int pair[2];
    struct shared *s = (struct shared *)mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        pool_giver(s, pair[0]);
        _exit(0);
    }
    pool_taker(s, pair[1]);
    waitpid(child, NULL, 0);
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {
#define CASE(name)                                                                                 \
    {                                                                                              \
#name, c_##name                                                                            \
    }
    CASE(fd_holds),         CASE(fd_import),  CASE(fd_twice),   CASE(fd_in_flight),
    CASE(fd_exporter_gone), CASE(fd_refused), CASE(pool_calls), CASE(pool_processes)};

int main()
{
    for (const auto &c : cases) {
        printf("[%s]\n", c.name);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            alarm(40);
            c.run();
            fflush(stdout);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status))
            printf("    (killed by signal %d)\n", WTERMSIG(status));
        fflush(stdout);
    }
}

// SPDX-License-Identifier: MIT
// pool_shared.cu: the rules of pools that are shared between processes: what refuses with which
// code, which GPUs reach an imported pointer, and that its memory outlives the exporter's free and
// end.
#include "check.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int wrong;

static void expect(const char *what, long is, long should)
{
    if (is != should) {
        printf("%s: %ld, expected %ld\n", what, is, should);
        wrong++;
    }
    cudaGetLastError();
}

struct shared {
    volatile int stage;
    struct cudaMemPoolPtrExportData data;
};

static struct shared *shared;
static const enum cudaMemAllocationHandleType FD = cudaMemHandleTypePosixFileDescriptor;

static void reach(int stage)
{
    while (shared->stage < stage)
        usleep(200);
}

__global__ void store(int *p, int v)
{
    *p = v;
}

static cudaMemPool_t make_pool(enum cudaMemAllocationHandleType types)
{
    cudaMemPool_t pool;
    cudaMemPoolProps props;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = types;
    props.location.type = cudaMemLocationTypeDevice;
    MUST(cudaMemPoolCreate(&pool, &props));
    return pool;
}

static void exporter(int socket)
{
    cudaMemPool_t own, shareable, imported;
    int fd = -1, *p, *q;
    void *r;
    MUST(cudaDeviceGetDefaultMemPool(&own, 0));
    expect("export of the default pool", cudaMemPoolExportToShareableHandle(&fd, own, FD, 0), 1);
    own = make_pool(cudaMemHandleTypeNone);
    expect("export without a type", cudaMemPoolExportToShareableHandle(&fd, own, FD, 0), 1);
    shareable = make_pool(FD);
    expect("flags", cudaMemPoolExportToShareableHandle(&fd, shareable, FD, 1), 1);
    MUST(cudaMemPoolExportToShareableHandle(&fd, shareable, FD, 0));
    MUST(cudaMallocFromPoolAsync(&p, 4096, shareable, 0));
    MUST(cudaMallocFromPoolAsync(&q, 4096, own, 0));
    store<<<1, 1>>>(p, 42);
    expect("pointer of another pool", cudaMemPoolExportPointer(&shared->data, q), 1);
    MUST(cudaMemPoolExportPointer(&shared->data, p));
    MUST(cudaMemPoolImportFromShareableHandle(&imported, (void *)(uintptr_t)fd, FD, 0));
    expect("own pointer", cudaMemPoolImportPointer(&r, imported, &shared->data), 0);
    expect("IPC handle of a pool", cudaIpcGetMemHandle((cudaIpcMemHandle_t *)&own, p), 1);
    MUST(cudaDeviceSynchronize());
    HOLDS(dup2(fd, socket) == socket, "descriptor");
    shared->stage = 1;
    reach(2);
    MUST(cudaFreeAsync(p, 0));
    MUST(cudaDeviceSynchronize());
    shared->stage = 3;
    reach(4);
}

// The descriptor is taken from the exporter's table, which a parent may do.
static int take(pid_t pid, int number)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, number);
    FILE *file = fopen(path, "r");
    HOLDS(file != NULL, "cannot open %s", path);
    return fileno(file);
}

static void others_reach(cudaMemPool_t pool, int *q, int gpus)
{
    cudaMemAccessDesc other;
    memset(&other, 0, sizeof other);
    other.location.type = cudaMemLocationTypeDevice;
    other.location.id = gpus - 1;
    other.flags = cudaMemAccessFlagsProtReadWrite;
    MUST(cudaMemPoolSetAccess(pool, &other, 1));
    MUST(cudaSetDevice(gpus - 1));
    store<<<1, 1>>>(q, 43);
    MUST(cudaDeviceSynchronize());
    MUST(cudaSetDevice(0));
}

static void importer(pid_t child, int socket, int gpus)
{
    cudaMemPool_t pool;
    cudaPointerAttributes at;
    struct cudaMemPoolPtrExportData forged;
    int value = 0, *p, *q, fd = take(child, socket);
    expect("no pool", cudaMemPoolImportFromShareableHandle(&pool, (void *)0, FD, 0), 1);
    MUST(cudaMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)fd, FD, 0));
    expect("malloc", cudaMallocFromPoolAsync(&p, 64, pool, 0), 1);
    expect("as a device's pool", cudaDeviceSetMemPool(0, pool), 1);
    memset(&forged, 0x5a, sizeof forged);
    expect("forged", cudaMemPoolImportPointer((void **)&q, pool, &forged), 1);
    MUST(cudaMemPoolImportPointer((void **)&q, pool, &shared->data));
    MUST(cudaPointerGetAttributes(&at, q));
    expect("type", at.type, cudaMemoryTypeDevice);
    expect("device", at.device, 0);
    shared->stage = 2;
    reach(3);
    MUST(cudaMemcpy(&value, q, sizeof value, cudaMemcpyDefault));
    expect("after the exporter's free", value, 42);
    expect("stale", cudaMemPoolImportPointer((void **)&p, pool, &shared->data), 1);
    others_reach(pool, q, gpus);
    shared->stage = 4;
    waitpid(child, &value, 0);
    expect("exporter", value, 0);
    MUST(cudaMemcpy(&value, q, sizeof value, cudaMemcpyDefault));
    expect("after its end", value, gpus ? 43 : 42);
    MUST(cudaFreeAsync(q, 0));
    expect("free again", cudaFreeAsync(q, 0), 1);
    MUST(cudaDeviceSynchronize());
    expect("and again", cudaFree(q), 1);
    MUST(cudaMemPoolDestroy(pool));
}

int main(void)
{
    int gpus = 0, socket = 100;
    shared = (struct shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (child == 0) {
        exporter(socket);
        return wrong != 0;
    }
    reach(1);
    MUST(cudaGetDeviceCount(&gpus));
    importer(child, socket, gpus);
    printf("pool_shared: %s\n", wrong ? "wrong" : "right");
    return wrong != 0;
}

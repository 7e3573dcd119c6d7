/* SPDX-License-Identifier: MIT
 * memory.c: memory that has more than an address: mapped, out of a pool, of another process.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "everything.h"

/* ---- mappings ---- */

enum { PAGE = 2 << 20 };

static const CUmemAllocationProp prop = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
};

static void map_and_use(CUdeviceptr at, CUmemGenericAllocationHandle handle)
{
    CUmemAccessDesc access[GPUS];
    unsigned long long flags;
    CUmemGenericAllocationHandle same;
    for (int i = 0; i < GPUS; i++)
        access[i] = (CUmemAccessDesc){.location = {CU_MEM_LOCATION_TYPE_DEVICE, i},
                                      .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemMap(at, PAGE, 0, handle, 0));
    OK(cuMemSetAccess(at, PAGE, access, GPUS));
    OK(cuMemGetAccess(&flags, &access[1].location, at));
    OK(cuMemRetainAllocationHandle(&same, (void *)(uintptr_t)at));
    OK(cuMemRelease(same));
    OK(cudaMemsetAsync((void *)(uintptr_t)at, 1, BYTES, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cuMemUnmap(at, PAGE));
}

void use_mappings(int number)
{
    CUmemGenericAllocationHandle handle, imported;
    CUmemAllocationProp own = prop;
    CUdeviceptr at;
    int fd;
    own.location.id = number % GPUS;
    OK(cuMemCreate(&handle, PAGE, &own, 0));
    OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)fd,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    OK(cuMemAddressReserve(&at, 2 * (size_t)PAGE, 0, 0, 0));
    map_and_use(at, handle);
    map_and_use(at + PAGE, imported);
    OK(cuMemRelease(handle));
    OK(cuMemRelease(imported));
    OK(cuMemAddressFree(at, 2 * (size_t)PAGE));
}

/* ---- pools ---- */

static void exchange_pool(cudaMemPool_t pool, void *memory)
{
    struct cudaMemPoolPtrExportData data;
    cudaMemPool_t imported;
    void *same;
    int fd;
    OK(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    OK(cudaMemPoolExportPointer(&data, memory));
    if (cudaMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)fd,
                                             cudaMemHandleTypePosixFileDescriptor, 0) == 0) {
        if (cudaMemPoolImportPointer(&same, imported, &data) == cudaSuccess)
            cudaFree(same);
        cudaMemPoolDestroy(imported);
    }
    close(fd);
    cudaGetLastError();
}

void use_own_pool(int number)
{
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .handleTypes = cudaMemHandleTypePosixFileDescriptor,
                                     .location = {cudaMemLocationTypeDevice, number % GPUS}};
    struct cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, (number + 1) % GPUS},
                                       cudaMemAccessFlagsProtReadWrite};
    cudaMemPool_t pool, theirs;
    uint64_t keep = 1 << 20;
    void *memory;
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMemPoolSetAccess(pool, &access, 1));
    OK(cudaMallocFromPoolAsync(&memory, BYTES, pool, cudaStreamPerThread));
    OK(cudaMemsetAsync(memory, number, BYTES, cudaStreamPerThread));
    exchange_pool(pool, memory);
    OK(cudaFreeAsync(memory, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cudaMemPoolTrimTo(pool, 0));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &keep));
    OK(cudaDeviceGetMemPool(&theirs, number % GPUS)); /* threads 0 and 4 share it */
    OK(cudaMallocFromPoolAsync(&memory, BYTES, theirs, cudaStreamPerThread));
    OK(cudaFreeAsync(memory, cudaStreamPerThread));
    OK(cudaMemPoolTrimTo(theirs, 0));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cudaMemPoolDestroy(pool));
}

/* ---- another process ---- */

struct handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

static struct {
    pid_t pid;
    int stay; /* it ends when this is closed */
    struct handles handles;
} other;

/* Gives two handles, and ends when they are not needed any more. */
void be_other_process(void)
{
    struct handles handles;
    cudaEvent_t event;
    char *memory, byte;
    OK(cudaMalloc((void **)&memory, BYTES));
    OK(cudaIpcGetMemHandle(&handles.memory, memory));
    OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaIpcGetEventHandle(&handles.event, event));
    OK(cudaEventRecord(event, 0));
    EXPECT_IS(write(STDOUT_FILENO, &handles, sizeof handles), (ssize_t)sizeof handles);
    EXPECT_IS(read(STDIN_FILENO, &byte, 1), 0);
}

static _Noreturn void become_other_process(int out, int in)
{
    dup2(out, STDOUT_FILENO);
    dup2(in, STDIN_FILENO);
    execl("/proc/self/exe", "everything", "other", (char *)NULL);
    _exit(1);
}

void start_other_process(void)
{
    int answer[2], stay[2];
    EXPECT_IS(pipe(answer), 0);
    EXPECT_IS(pipe(stay), 0);
    other.pid = fork();
    EXPECT(other.pid >= 0);
    if (other.pid == 0) {
        close(stay[1]);
        become_other_process(answer[1], stay[0]);
    }
    close(answer[1]);
    close(stay[0]);
    other.stay = stay[1];
    EXPECT_IS(read(answer[0], &other.handles, sizeof other.handles), (ssize_t)sizeof other.handles);
    close(answer[0]);
}

void end_other_process(void)
{
    int status;
    close(other.stay);
    EXPECT_IS(waitpid(other.pid, &status, 0), other.pid);
    EXPECT_IS(status, 0);
}

/* All open the same. */
void use_other_process(void)
{
    cudaEvent_t event;
    void *memory;
    OK(cudaIpcOpenMemHandle(&memory, other.handles.memory, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaIpcOpenEventHandle(&event, other.handles.event));
    OK(cudaStreamWaitEvent(cudaStreamPerThread, event, 0));
    OK(cudaMemsetAsync(memory, 1, BYTES, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cudaEventDestroy(event));
    OK(cudaIpcCloseMemHandle(memory));
}

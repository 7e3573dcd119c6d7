// SPDX-License-Identifier: MIT
// stores.cu: a kernel polls pinned memory that the host stores to: stores CASE. Prints the clock of
// the host when it stored and when the kernel was over, in picoseconds.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <unistd.h>
#include <vgpu_time.h>

static const size_t BYTES = 64 << 20;
static volatile int *flag;

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

__global__ void wait_for(volatile int *flag, int value, int *out)
{
    while (*flag != value)
        ;
    *out = value;
}

// For this kernel to be under way: the host knows by a copy that came later in another stream.
static void other_work(cudaStream_t stream, char *to, const char *from, bool asks)
{
    cudaEvent_t end;
    check(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
    check(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToDevice, stream));
    check(cudaEventRecord(end, stream));
    while (asks && cudaEventQuery(end) == cudaErrorNotReady)
        ;
    check(cudaEventSynchronize(end));
}

static void store(int value)
{
    printf("stored %llu\n", static_cast<unsigned long long>(vgpu_time()));
    *flag = value;
}

// Computes for a while, which costs no virtual time, and makes no call.
static void compute(void)
{
    for (volatile int i = 0; i < 3000000; i = i + 1)
        ;
}

// Is this program's first thread asleep? Its state comes after the name in /proc, which may have
// parentheses of its own.
static bool main_sleeps()
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
    FILE *stat = fopen(path, "r");
    if (!stat || !fgets(line, sizeof line, stat))
        exit(1);
    fclose(stat);
    const char *name_ends = strrchr(line, ')');
    return name_ends && name_ends[2] == 'S';
}

// Stores when the first thread waits for the kernel, and not before: had that one still to call,
// nobody could say which of the two stored. 40 looks in a row, as a busy machine lets nobody wait.
static void store_when_main_sleeps()
{
    for (int asleep = 0; asleep < 40; asleep = main_sleeps() ? asleep + 1 : 0)
        usleep(2500);
    store(1);
}

// The kernel has looked many times before.
static void store_later(cudaStream_t stream, char *to, const char *from)
{
    check(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToDevice, stream));
    check(cudaStreamSynchronize(stream));
    store_when_main_sleeps();
}

int main(int, char **argv)
{
    const char *name = argv[1];
    cudaStream_t polls, copies;
    char *from, *to;
    int *pinned, *out;
    check(cudaMallocHost(&pinned, sizeof *pinned));
    *pinned = 0;
    flag = pinned;
    check(cudaMalloc(&from, BYTES));
    check(cudaMalloc(&to, BYTES));
    check(cudaMalloc(&out, sizeof *out));
    check(cudaStreamCreateWithFlags(&polls, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    wait_for<<<1, 1, 0, polls>>>(flag, 1, out);
    if (strcmp(name, "thread") == 0) { // it makes no call at all: its clock is that of its creation
        check(cudaMalloc(&from, BYTES));
        std::thread other(store_when_main_sleeps);
        check(cudaStreamSynchronize(polls));
        other.join();
    } else if (strcmp(name, "worker") == 0) {
        std::thread other(store_later, copies, to, from);
        check(cudaStreamSynchronize(polls));
        other.join();
    } else {
        other_work(copies, to, from, strcmp(name, "asks") == 0);
        if (strcmp(name, "late") == 0)
            compute();
        store(1);
        if (strcmp(name, "calls") == 0) // the call comes after the store
            check(cudaFree(from));
        check(cudaStreamSynchronize(polls));
    }
    printf("over %llu\n", static_cast<unsigned long long>(vgpu_time()));
    return 0;
}

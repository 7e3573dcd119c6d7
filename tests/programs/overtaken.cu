// SPDX-License-Identifier: MIT
// overtaken.cu: what ended before a call was made has ended for that call, while calls follow each
// other without a pause: a program that had 64 MiB, and the last descriptor of an allocation.
// Prints how often of ROUNDS each was still in use.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda.h>
#include <cuda_runtime.h>

#include "check.h"

#define DRV(call) HOLDS((call) == CUDA_SUCCESS, "a driver call failed\n")

enum { ROUNDS = 200, ROW = 50 };
static const size_t BYTES = (size_t)64 << 20;

static size_t free_bytes(void)
{
    size_t free_now, total;
    MUST(cudaMemGetInfo(&free_now, &total));
    return free_now;
}

// A row of calls without a pause.
static size_t free_after_row(void)
{
    for (int i = 0; i < ROW; i++)
        free_bytes();
    return free_bytes();
}

// A program that takes BYTES, says so, and waits until it is killed.
static void take_memory(int says)
{
    void *p;
    MUST(cudaMalloc(&p, BYTES));
    if (write(says, "t", 1) != 1)
        exit(1);
    pause();
}

// Starts such programs and kills them, as often as it is asked: this process forks before it uses
// CUDA, so that the programs can.
static void manage(int asked, int says)
{
    char word;
    while (read(asked, &word, 1) == 1) {
        pid_t program = fork();
        if (program == 0)
            take_memory(says);
        if (read(asked, &word, 1) != 1)
            exit(1);
        kill(program, SIGKILL);
        waitpid(program, NULL, 0);
        if (write(says, "e", 1) != 1)
            exit(1);
    }
    exit(0);
}

// Calls without a pause until a word comes.
static void call_until_word(int says)
{
    char word;
    while (read(says, &word, 1) != 1)
        free_bytes();
}

static int count_programs(int ask, int says)
{
    int late = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const size_t before = free_after_row();
        if (write(ask, "t", 1) != 1)
            exit(1);
        call_until_word(says);
        if (write(ask, "e", 1) != 1)
            exit(1);
        call_until_word(says);
        late += free_bytes() != before;
    }
    return late;
}

static int count_descriptors(void)
{
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    int late = 0;
    for (int i = 0; i < ROUNDS; i++) {
        CUmemGenericAllocationHandle handle;
        int fd = -1;
        const size_t before = free_after_row();
        DRV(cuMemCreate(&handle, BYTES, &prop, 0));
        DRV(cuMemExportToShareableHandle(&fd, handle, prop.requestedHandleTypes, 0));
        DRV(cuMemRelease(handle));
        free_after_row();
        close(fd);
        late += free_bytes() != before;
    }
    return late;
}

int main(void)
{
    int ask[2], say[2];
    HOLDS(pipe(ask) == 0 && pipe2(say, O_NONBLOCK) == 0, "no pipes\n");
    pid_t manager = fork();
    if (manager == 0) {
        close(ask[1]);
        manage(ask[0], say[1]);
    }
    close(ask[0]);
    printf("of %d in use too long: programs %d", ROUNDS, count_programs(ask[1], say[0]));
    printf(", descriptors %d\n", count_descriptors());
    close(ask[1]);
    waitpid(manager, NULL, 0);
    return 0;
}

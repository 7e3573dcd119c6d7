// SPDX-License-Identifier: MIT
// orphan.cu: what a process gets that waits for the event of one that is killed: an error, never a
// hang. "orphan before": it asks after the kill; "during": it waits when the kill comes; "stream":
// a stream of it waits; "done": the work was done before the kill, and the memory stays;
// "recorder": who has recorded another's event ends well when its work is done, and that is no
// error.
#include "check.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    volatile int ready, waiting;
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

static struct shared *shared;

__global__ void store(int *p, int v)
{
    *p = v;
}

__global__ void poll(volatile int *p)
{
    while (*p != 12345)
        ;
}

static void reach(volatile int *stage)
{
    while (!*stage)
        usleep(200);
}

// Records an event after a store, or after a kernel that never ends, and waits to be killed.
static void maker(bool ends)
{
    int *p;
    cudaEvent_t event;
    MUST(cudaMalloc((void **)&p, sizeof *p));
    MUST(cudaMemset(p, 0, sizeof *p));
    MUST(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    MUST(cudaIpcGetMemHandle(&shared->memory, p));
    MUST(cudaIpcGetEventHandle(&shared->event, event));
    if (ends)
        store<<<1, 1>>>(p, 7);
    else
        poll<<<1, 1>>>(p);
    MUST(cudaEventRecord(event, 0));
    if (ends)
        MUST(cudaDeviceSynchronize());
    shared->ready = 1;
    for (;;)
        pause();
}

static void kill_soon(pid_t maker_pid)
{
    if (fork() == 0) {
        reach(&shared->waiting);
        usleep(300000);
        kill(maker_pid, SIGKILL);
        _exit(0);
    }
}

static void tell(const char *what, cudaError_t error)
{
    printf("%s: %d\n", what, (int)error);
}

static void wait_for(const char *mode, pid_t maker_pid)
{
    int *p, value = 0;
    cudaEvent_t event;
    reach(&shared->ready);
    MUST(cudaIpcOpenMemHandle((void **)&p, shared->memory, cudaIpcMemLazyEnablePeerAccess));
    MUST(cudaIpcOpenEventHandle(&event, shared->event));
    if (strcmp(mode, "stream") == 0)
        tell("stream wait", cudaStreamWaitEvent(0, event, 0));
    shared->waiting = 1;
    if (strcmp(mode, "during") != 0) {
        waitpid(maker_pid, NULL, 0);
        usleep(50000); // until the node has seen it too
    }
    if (strcmp(mode, "stream") == 0)
        tell("device", cudaDeviceSynchronize());
    else
        tell("event", cudaEventSynchronize(event));
    if (strcmp(mode, "done") == 0) {
        MUST(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDefault));
        printf("value: %d\n", value);
    }
    tell("query", cudaEventQuery(event));
    tell("close", cudaIpcCloseMemHandle(p));
}

// Another process records our event behind work that gets done, and ends well.
static void recorded_by_another()
{
    cudaEvent_t event;
    pid_t child = fork();
    if (child == 0) {
        reach(&shared->ready);
        MUST(cudaIpcOpenEventHandle(&event, shared->event));
        MUST(cudaEventRecord(event, 0));
        MUST(cudaDeviceSynchronize());
        exit(0);
    }
    MUST(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    MUST(cudaIpcGetEventHandle(&shared->event, event));
    shared->ready = 1;
    waitpid(child, NULL, 0);
    usleep(50000);
    tell("event", cudaEventSynchronize(event));
    tell("query", cudaEventQuery(event));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "before";
    shared = (struct shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (strcmp(mode, "recorder") == 0) {
        recorded_by_another();
        return 0;
    }
    pid_t child = fork();
    if (child == 0)
        maker(strcmp(mode, "done") == 0);
    kill_soon(child);
    wait_for(mode, child);
    return 0;
}

// SPDX-License-Identifier: MIT
// ipc.cu: the stencil with a process for each GPU. Each opens its neighbours' memory and events.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stencil.h"

// A message takes the virtual clock along: who waits for it goes on no earlier than its sender.
#if __has_include(<vgpu_time.h>)
#include <vgpu_time.h>
#else
static uint64_t vgpu_time_tell(void)
{
    return 0;
}
static void vgpu_time_hear(uint64_t) {}
#endif

struct card { // what neighbours tell each other: plain bytes
    cudaIpcMemHandle_t now, next;
    cudaIpcEventHandle_t done[2];
};

struct result { // what each process tells the first one
    double us;
    uint64_t sum;
};

static int me;         // my rank, and my GPU
static int channel[2]; // to the rank above and to the rank below; -1 if there is no such rank
static int parent;     // to the process that started all
static cudaEvent_t mine[2], theirs[2][2]; // [neighbour][step % 2]

static void tell(int socket, const void *what, size_t bytes)
{
    if (send(socket, what, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
        _exit(1);
}

static void hear(int socket, void *what, size_t bytes)
{
    if (recv(socket, what, bytes, MSG_WAITALL) != (ssize_t)bytes)
        _exit(1); // the other side is gone
}

static void tell_time(int socket)
{
    uint64_t now = vgpu_time_tell();
    tell(socket, &now, sizeof now);
}

static void hear_time(int socket)
{
    uint64_t then;
    hear(socket, &then, sizeof then);
    vgpu_time_hear(then);
}

static int neighbour(int side)
{
    return side == 0 ? me - 1 : me + 1;
}

// book: open
static void open_neighbours(void)
{
    struct card card;
    CHECK(cudaIpcGetMemHandle(&card.now, part[me].now));
    CHECK(cudaIpcGetMemHandle(&card.next, part[me].next));
    for (int i = 0; i < 2; i++) {
        const unsigned flags = cudaEventInterprocess | cudaEventDisableTiming;
        CHECK(cudaEventCreateWithFlags(&mine[i], flags));
        CHECK(cudaIpcGetEventHandle(&card.done[i], mine[i]));
    }
    for (int side = 0; side < 2; side++)
        if (channel[side] >= 0)
            tell(channel[side], &card, sizeof card);
    for (int side = 0; side < 2; side++) {
        const unsigned flags = cudaIpcMemLazyEnablePeerAccess;
        struct part *p = &part[neighbour(side)];
        if (channel[side] < 0)
            continue;
        hear(channel[side], &card, sizeof card);
        CHECK(cudaIpcOpenMemHandle((void **)&p->now, card.now, flags));
        CHECK(cudaIpcOpenMemHandle((void **)&p->next, card.next, flags));
        for (int i = 0; i < 2; i++)
            CHECK(cudaIpcOpenEventHandle(&theirs[side][i], card.done[i]));
    }
}
// book: end

// book: step
static void step(int number)
{
    struct part *p = &part[me];
    for (int side = 0; side < 2 && number > 0; side++)
        if (channel[side] >= 0) { // first that it is recorded, then that it has happened
            hear_time(channel[side]);
            CHECK(cudaStreamWaitEvent(p->stream, theirs[side][(number - 1) % 2], 0));
        }
    relax_and_send<<<grid(p->rows), THREADS, 0, p->stream>>>(p->now, p->next, width, p->rows,
                                                             above(me), below(me));
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(mine[number % 2], p->stream));
    for (int side = 0; side < 2; side++)
        if (channel[side] >= 0)
            tell_time(channel[side]);
    for (int g = me - 1; g <= me + 1; g++)
        if (g >= 0 && g < gpus)
            swap(&part[g]); // the neighbours swap, too
}
// book: end

static void all_steps(void)
{
    for (int i = 0; i < steps; i++)
        step(i);
}

// Returns when all processes have called it.
static void barrier(void)
{
    tell_time(parent);
    hear_time(parent);
}

static struct result rank(void)
{
    cudaEvent_t start, stop;
    struct result result;
    float ms;
    for (int g = 0; g < gpus; g++)
        split(g); // the neighbours' rows, too: they say where halos are
    open_part(me);
    open_neighbours();
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    barrier();
    CHECK(cudaEventRecord(start, part[me].stream));
    all_steps();
    CHECK(cudaEventRecord(stop, part[me].stream));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    result.us = ms * 1000;
    result.sum = checksum(me);
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return result;
}

// book: close
static void close_rank(void)
{
    for (int side = 0; side < 2; side++)
        if (channel[side] >= 0) {
            CHECK(cudaIpcCloseMemHandle(part[neighbour(side)].now));
            CHECK(cudaIpcCloseMemHandle(part[neighbour(side)].next));
            for (int i = 0; i < 2; i++)
                CHECK(cudaEventDestroy(theirs[side][i]));
        }
    barrier(); // only now no process has it open
    close_part(me);
    for (int i = 0; i < 2; i++)
        CHECK(cudaEventDestroy(mine[i]));
}
// book: end

static void child(int socket)
{
    struct result result;
    parent = socket;
    result = rank();
    tell(parent, &result, sizeof result);
    close_rank();
    _exit(0);
}

// Forks a process for each GPU, with a socket to either neighbour and one to this process.
static void start_all(int *socket)
{
    int pair[2], from_above = -1;
    for (me = 0; me < gpus; me++) {
        channel[0] = from_above;
        channel[1] = from_above = -1;
        if (me < gpus - 1 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
            channel[1] = pair[0];
            from_above = pair[1];
        }
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
            exit(1);
        if (fork() == 0) { // before any CUDA call
            close(from_above);
            for (int g = 0; g < me; g++)
                close(socket[g]);
            close(pair[0]);
            child(pair[1]); // holds its own ends only: a read says when another process has died
        }
        socket[me] = pair[0];
        close(pair[1]);
        for (int side = 0; side < 2; side++)
            close(channel[side]);
    }
}

static void pass_barrier(const int *socket)
{
    uint64_t one, latest = 0;
    for (int g = 0; g < gpus; g++) {
        hear(socket[g], &one, sizeof one);
        latest = one > latest ? one : latest;
    }
    for (int g = 0; g < gpus; g++)
        tell(socket[g], &latest, sizeof latest);
}

// This process makes no CUDA call, so that it can fork: another one counts the GPUs.
static int count_gpus(void)
{
    int status, count = 0;
    if (fork() == 0) {
        CHECK(cudaGetDeviceCount(&count));
        _exit(count);
    }
    wait(&status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

int main(int argc, char **argv)
{
    int socket[MOST], status, failed = 0;
    struct result one, all = {0, 0};
    read_arguments(argc, argv);
    if (gpus == 0)
        gpus = count_gpus();
    start_all(socket);
    pass_barrier(socket);
    for (int g = 0; g < gpus; g++) {
        hear(socket[g], &one, sizeof one);
        all.us = one.us > all.us ? one.us : all.us; // the slowest
        all.sum += one.sum;
    }
    pass_barrier(socket);
    for (int g = 0; g < gpus; g++) {
        wait(&status);
        failed |= status;
    }
    if (failed == 0)
        report(all.us, all.sum);
    return failed != 0;
}

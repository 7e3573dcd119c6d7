/* SPDX-License-Identifier: MIT
 * peers.c: the computations of the bench's kernels, as plain C loops on all CPUs; a switch between
 * stacks, a message between processes.
 */
#include "bench.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { WIDTH = 256 };

int peer_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

double peer_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void peer_add(const float *a, const float *b, float *c, long n)
{
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (long i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

/* The same tree as in the kernel, so that the results are bitwise equal. */
void peer_reduce(const float *in, float *out, long blocks)
{
#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (long b = 0; b < blocks; b++) {
        float part[WIDTH];
        for (int t = 0; t < WIDTH; t++)
            part[t] = in[b * WIDTH + t];
        for (int step = WIDTH / 2; step > 0; step /= 2)
            for (int t = 0; t < step; t++)
                part[t] += part[t + step];
        out[b] = part[0];
    }
}

/* ---- lower bound for any library that runs threads as fibers ---- */

#if defined(__x86_64__)

enum { STACKS = 256, STACK_BYTES = 16384, SWITCHES = 4 << 20 };

static void *place[STACKS], *back;
static int left;

/* Saves the callee-saved registers and switches to another stack. */
__attribute__((naked, noinline)) static void go(void **from, void *to)
{
    __asm__("pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15\n\t"
            "movq %rsp, (%rdi); movq %rsi, %rsp\n\t"
            "popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp\n\t"
            "popq %rax; jmpq *%rax");
}

/* Called through a pointer, so that the compiler assumes that all caller-saved registers are
 * lost. */
static void (*volatile hop)(void **from, void *to) = go;
static int current;

static void turn(void)
{
    for (;;) {
        int before = current;
        current = (before + 1) % STACKS;
        if (left-- == 0)
            hop(&place[before], back);
        hop(&place[before], place[current]);
    }
}

double peer_switch_ns(void)
{
    char *stacks = aligned_alloc(4096, (size_t)STACKS * STACK_BYTES);
    struct timespec start, end;
    if (!stacks)
        return 0;
    for (int i = 0; i < STACKS; i++) {
        void **top = (void **)(void *)(stacks + (i + 1) * STACK_BYTES - 64 - i * 448 % 4096);
        top[-1] = (void *)turn;
        place[i] = top - 7;
    }
    left = SWITCHES;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    current = 0;
    hop(&back, place[0]);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    free(stacks);
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
           SWITCHES;
}

#else

double peer_switch_ns(void)
{
    return 0;
}

#endif

/* As the runtime, the node and a context exchange messages. */
double peer_round_trip_us(void)
{
    enum { TRIPS = 5000, BYTES = 300 };
    char message[BYTES] = {0};
    int end[2];
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, end) != 0)
        return 0;
    pid_t other = fork();
    if (other == 0) {
        close(end[0]);
        while (recv(end[1], message, BYTES, 0) > 0)
            (void)!send(end[1], message, BYTES, 0);
        _exit(0);
    }
    close(end[1]);
    double least = 1;
    for (int i = 0; i < TRIPS; i++) {
        double start = peer_seconds();
        if (send(end[0], message, BYTES, 0) < 0 || recv(end[0], message, BYTES, 0) <= 0)
            break;
        double took = peer_seconds() - start;
        least = took < least ? took : least;
    }
    close(end[0]);
    waitpid(other, NULL, 0);
    sched_setaffinity(0, sizeof before, &before);
    return least * 1e6;
}

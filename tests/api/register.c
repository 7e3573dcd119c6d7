/* SPDX-License-Identifier: MIT
 * register.c: cudaHostRegister and what other threads do meanwhile: nothing of it is lost, whether
 * the memory is the heap's, a variable's or on the stack, and whoever handles SIGSEGV.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "expect.h"

enum { PAGE = 4096, ROUNDS = 100, WRITERS = 3 };

/* ---- stores to what shares a page with the range ---- */

struct writer {
    volatile uint64_t *at;
    uint64_t stores, lost;
};

static atomic_bool enough;

static void *write_on(void *argument)
{
    struct writer *w = argument;
    uint64_t mine = *w->at;
    while (!atomic_load_explicit(&enough, memory_order_relaxed)) {
        uint64_t there = *w->at;
        w->lost += there != mine;
        *w->at = mine = there + 1;
        w->stores++;
    }
    w->lost += *w->at != mine;
    return NULL;
}

/* Registers `inner` bytes in the middle of `pages` again and again; the first and the last bytes of
 * the pages are others'. */
static void stress(const char *what, char *pages, size_t bytes)
{
    struct writer writer[WRITERS] = {{(volatile uint64_t *)(void *)pages, 0, 0},
                                     {(volatile uint64_t *)(void *)(pages + bytes - 8), 0, 0},
                                     {(volatile uint64_t *)(void *)(pages + 64), 0, 0}};
    pthread_t thread[WRITERS];
    atomic_store(&enough, false);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&thread[i], NULL, write_on, &writer[i]);
    for (int i = 0; i < ROUNDS; i++) {
        OK(cudaHostRegister(pages + 128, bytes - 192, 0));
        pages[200] = (char)i;
        OK(cudaHostUnregister(pages + 128));
        EXPECT(pages[200] == (char)i);
    }
    atomic_store(&enough, true);
    uint64_t stores = 0, lost = 0;
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(thread[i], NULL);
        stores += writer[i].stores;
        lost += writer[i].lost;
    }
    if (lost)
        printf("%s: %llu of %llu stores were lost\n", what, (unsigned long long)lost,
               (unsigned long long)stores);
    EXPECT(lost == 0);
}

static char variable[3 * PAGE] __attribute__((aligned(PAGE)));

static void of_all_kinds(void)
{
    char *heap = aligned_alloc(PAGE, 3 * PAGE);
    char stack[4 * PAGE] = "";
    stress("heap", heap, 3 * PAGE);
    stress("one page", heap, PAGE);
    stress("variable", variable, sizeof variable);
    stress("stack", (char *)(((uintptr_t)stack + PAGE - 1) / PAGE * PAGE), 2 * PAGE);
    free(heap);
}

/* The page of this function's own frame. */
static void own_frame(void)
{
    char bytes[64];
    for (int i = 0; i < ROUNDS; i++) {
        memset(bytes, i, sizeof bytes);
        OK(cudaHostRegister(bytes, sizeof bytes, 0));
        EXPECT(bytes[63] == (char)i);
        bytes[62] = 7;
        OK(cudaHostUnregister(bytes));
        EXPECT(bytes[62] == 7 && bytes[0] == (char)i);
    }
}

/* ---- a program with a handler of its own ---- */

static volatile sig_atomic_t handled;
static char *volatile closed;

static void on_fault(int signal_number)
{
    (void)signal_number;
    handled++;
    mprotect(closed, PAGE, PROT_READ | PROT_WRITE);
}

static void with_own_handler(void)
{
    struct sigaction mine = {.sa_handler = on_fault}, before;
    closed = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaction(SIGSEGV, &mine, &before);
    stress("own handler", variable, sizeof variable);
    EXPECT(handled == 0);
    ((volatile char *)closed)[5] = 1; /* its own faults are still its own */
    EXPECT(handled == 1);
    sigaction(SIGSEGV, &before, NULL);
    munmap(closed, PAGE);
}

/* ---- two threads with the same memory ---- */

static pthread_barrier_t line;
static cudaError_t answer[2];

static void *register_too(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&line);
        answer[1] = cudaHostRegister(variable, sizeof variable, 0);
        pthread_barrier_wait(&line);
    }
    return unused;
}

static void two_threads(void)
{
    pthread_t thread;
    pthread_barrier_init(&line, NULL, 2);
    pthread_create(&thread, NULL, register_too, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&line);
        answer[0] = cudaHostRegister(variable, sizeof variable, 0);
        pthread_barrier_wait(&line);
        EXPECT_IS((int)answer[0] + (int)answer[1], cudaErrorHostMemoryAlreadyRegistered);
        OK(cudaHostUnregister(variable));
    }
    pthread_join(thread, NULL);
    cudaGetLastError();
}

/* ---- no memory to bring the pages home ---- */

#ifndef __SANITIZE_ADDRESS__ /* its malloc ends a program that has no memory */
static void without_memory(void)
{
    enum { MUCH = 64 << 20 };
    struct rlimit before, now;
    char *big = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int *other;
    OK(cudaHostRegister(big, MUCH, 0));
    memset(big, 3, MUCH);
    getrlimit(RLIMIT_AS, &before);
    now = before;
    now.rlim_cur = MUCH / 2; /* less than there is: nothing more is mapped */
    setrlimit(RLIMIT_AS, &now);
    cudaError_t refused = cudaHostUnregister(big);
    setrlimit(RLIMIT_AS, &before);
    EXPECT_IS(refused, cudaErrorMemoryAllocation);
    OK(cudaMallocHost((void **)&other, MUCH)); /* not what `big` still is */
    memset(other, 5, MUCH);
    EXPECT(big[0] == 3 && big[MUCH - 1] == 3);
    OK(cudaHostUnregister(big));
    EXPECT(big[0] == 3 && big[MUCH - 1] == 3);
    OK(cudaFreeHost(other));
    munmap(big, MUCH);
    cudaGetLastError();
}
#endif

/* ---- memory that other mappings see, too ---- */

/* It is refused, and is what it was: shared. */
static void shared_memory(void)
{
    int fd = memfd_create("shared", MFD_CLOEXEC);
    EXPECT(ftruncate(fd, 2 * PAGE) == 0);
    char *one = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    const char *other = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
    EXPECT_IS(cudaHostRegister(one, 2 * PAGE, 0), cudaErrorNotSupported);
    EXPECT_IS(cudaHostRegister(one + PAGE + 8, 64, 0), cudaErrorNotSupported);
    one[PAGE] = 9;
    EXPECT(other[PAGE] == 9);
    munmap(one, 2 * PAGE);
    one = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    OK(cudaHostRegister(one, PAGE, 0));
    OK(cudaHostUnregister(one));
    close(fd);
    cudaGetLastError();
}

int main(void)
{
    OK(cudaFree(NULL));
    shared_memory();
    of_all_kinds();
    own_frame();
    two_threads();
#ifndef __SANITIZE_ADDRESS__
    without_memory();
#endif
    with_own_handler();
    return 0;
}

/* SPDX-License-Identifier: MIT
 * polls.cu: two processes, each with a thread that sleeps. One polls a word in shared memory, as
 * MPI does in a receive, until the other has waited for its copy. Prints whether the polling took
 * less than a second of processor time: the node must see soon that the copy need not wait for it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static __global__ void count(int *numbers)
{
    atomicAdd(numbers, 1);
}

static void *sleep_for_ever(void *nothing)
{
    pause();
    return nothing;
}

static double processor_seconds()
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main()
{
    int *told = (int *)mmap(NULL, 2 * sizeof(int), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t other = fork();
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_for_ever, NULL);
    int *numbers, result = 0;
    cudaMalloc(&numbers, sizeof(int));
    cudaMemset(numbers, 0, sizeof(int));
    cudaDeviceSynchronize();
    __atomic_fetch_add(&told[0], 1, __ATOMIC_SEQ_CST);
    if (other == 0) {
        while (__atomic_load_n(&told[0], __ATOMIC_SEQ_CST) < 2)
            usleep(1000);
        count<<<64, 64>>>(numbers);
        cudaMemcpy(&result, numbers, sizeof(int), cudaMemcpyDeviceToHost);
        __atomic_store_n(&told[1], result, __ATOMIC_SEQ_CST);
        _exit(0);
    }
    double begun = processor_seconds(), took = 0;
    while (__atomic_load_n(&told[1], __ATOMIC_SEQ_CST) == 0 && took < 30) {
        sched_yield();
        took = processor_seconds() - begun;
    }
    waitpid(other, NULL, 0);
    printf("%d counted, polled for %s\n", told[1], took < 1 ? "less than a second" : "too long");
    return 0;
}

// SPDX-License-Identifier: MIT
// carry.cu: host threads that wait for each other: carry CASE. Each line says what a thread's clock
// was at some place, in picoseconds; the test knows which of them must be equal.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <pthread.h>
#include <thread>
#include <threads.h>
#include <vgpu_time.h>

static const int THREADS = 3, ROUNDS = 4;
static const size_t BYTES = 8 << 20;

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

static void say(const char *where)
{
    printf("%s %llu\n", where, static_cast<unsigned long long>(vgpu_time()));
}

// Takes longer the more `copies` there are.
static void work(int gpu, int copies)
{
    char *from, *to;
    check(cudaSetDevice(gpu));
    check(cudaMalloc(&from, BYTES));
    check(cudaMalloc(&to, BYTES));
    for (int i = 0; i < copies; i++)
        check(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToDevice, 0));
    check(cudaStreamSynchronize(0));
}

static void child(int copies)
{
    say("begun");
    if (copies)
        work(1, copies);
    say("ended");
}

static void join(int copies)
{
    work(0, 1);
    say("created");
    std::thread thread(child, copies);
    thread.join();
    say("joined");
}

static int child_c11(void *copies)
{
    child(*static_cast<int *>(copies));
    return 7;
}

static void join_c11()
{
    int copies = 2, found = 0;
    thrd_t thread;
    work(0, 1);
    say("created");
    thrd_create(&thread, child_c11, &copies);
    thrd_join(thread, &found);
    say(found == 7 ? "joined" : "lost what it returned");
}

static void *child_exits(void *)
{
    child(2);
    pthread_exit(nullptr);
}

// One that ends in pthread_exit, found by asking again and again.
static void join_tried()
{
    pthread_t thread;
    work(0, 1);
    say("created");
    pthread_create(&thread, nullptr, child_exits, nullptr);
    while (pthread_tryjoin_np(thread, nullptr) != 0)
        std::this_thread::yield();
    say("joined");
}

static pthread_barrier_t barrier;

// Every round another one is last.
static void meets(int number)
{
    for (int round = 0; round < ROUNDS; round++) {
        work(number, (number + round) % THREADS == 0 ? 9 : 1);
        pthread_barrier_wait(&barrier);
        char where[32];
        snprintf(where, sizeof where, "round%d", round);
        say(where);
    }
}

static void meeting()
{
    std::thread threads[THREADS];
    pthread_barrier_init(&barrier, nullptr, THREADS);
    for (int i = 0; i < THREADS; i++)
        threads[i] = std::thread(meets, i);
    for (std::thread &thread : threads)
        thread.join();
    pthread_barrier_destroy(&barrier);
}

// Nothing orders these; one computes before each call, much longer than the others take for theirs.
// They share links: how fast each one is depends on when the others are under way.
static void apart(int number)
{
    char *host, *device;
    cudaEvent_t begin, end;
    float ms;
    check(cudaSetDevice(number));
    check(cudaMallocHost(&host, BYTES));
    check(cudaMalloc(&device, BYTES));
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    for (int round = 0; round < ROUNDS; round++) {
        for (volatile int i = 0; number == 1 && i < 500000; i = i + 1)
            ;
        check(cudaEventRecord(begin, 0));
        for (int i = 0; i <= number; i++)
            check(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, 0));
        check(cudaEventRecord(end, 0));
        while (number == 2 && cudaEventQuery(end) == cudaErrorNotReady)
            ;
        check(cudaStreamSynchronize(0));
        check(cudaEventElapsedTime(&ms, begin, end));
        char where[64];
        snprintf(where, sizeof where, "apart%d.%d %.9g", number, round, static_cast<double>(ms));
        say(where);
    }
}

static void all_apart()
{
    std::thread threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = std::thread(apart, i);
    for (std::thread &thread : threads)
        thread.join();
}

#ifdef _OPENMP
static void region()
{
    work(0, 1);
    say("created");
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp critical
        say("begun");
#pragma omp for schedule(static)
        for (int i = 0; i < THREADS; i++)
            work(i, 1 + 3 * i);
#pragma omp critical
        say("static");
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int i = 0; i < THREADS; i++)
            work(i, 9 - 3 * i);
#pragma omp critical
        say("dynamic");
#pragma omp barrier
#pragma omp sections
        {
#pragma omp section
            work(0, 5);
#pragma omp section
            work(1, 1);
        }
#pragma omp critical
        say("sections");
#pragma omp barrier
    }
    say("over");
    // The threads of a second region begin where this one ended, not where they were.
    work(0, 20);
    say("created2");
#pragma omp parallel for num_threads(THREADS) schedule(dynamic)
    for (int i = 0; i < THREADS; i++) {
#pragma omp critical
        say("begun2");
        work(i, 1 + 3 * i);
#pragma omp critical
        say("ended2");
    }
    say("over2");
}
#endif

int main(int, char **argv)
{
    if (strcmp(argv[1], "join") == 0)
        join(2);
    else if (strcmp(argv[1], "join_idle") == 0)
        join(0);
    else if (strcmp(argv[1], "join_c11") == 0)
        join_c11();
    else if (strcmp(argv[1], "join_tried") == 0)
        join_tried();
    else if (strcmp(argv[1], "barrier") == 0)
        meeting();
    else if (strcmp(argv[1], "apart") == 0)
        all_apart();
#ifdef _OPENMP
    else if (strcmp(argv[1], "openmp") == 0)
        region();
#endif
    return 0;
}

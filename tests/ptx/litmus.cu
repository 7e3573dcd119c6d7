// SPDX-License-Identifier: MIT
// litmus.cu: litmus tests of PTX's memory model ("Memory Consistency Model" in NVIDIA's guide to
// PTX), in PTX. For each test, scope and placement of the threads: how often each outcome was seen,
// and whether one was that the model forbids.
//
//   litmus ROUNDS [TEST]        exit status 1: a forbidden outcome was seen
//
// Placement: warps of one block (cta), blocks of one GPU (gpu), two GPUs (sys); x lies on the first
// GPU, y on the second one.
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum Scope { CTA, GPU, SYS };
enum { THREADS_MAX = 4, STRIDE = 16 };

struct Memory {
    int *x, *y; // STRIDE apart for each round
    int *r;     // THREADS_MAX of each round
    int *turn;  // of the access that comes next in each round
};

// ---- the instructions ----

#define FOR_SCOPE(before, after, ...)                                                              \
    if (S == CTA)                                                                                  \
        asm volatile(before "cta" after __VA_ARGS__);                                              \
    else if (S == GPU)                                                                             \
        asm volatile(before "gpu" after __VA_ARGS__);                                              \
    else                                                                                           \
        asm volatile(before "sys" after __VA_ARGS__)

#define STORE(kind)                                                                                \
    template <Scope S> __device__ void st_##kind(int *at, int v)                                   \
    {                                                                                              \
        FOR_SCOPE("st." #kind ".", ".global.u32 [%0], %1;", ::"l"(at), "r"(v) : "memory");         \
    }
#define LOAD(kind)                                                                                 \
    template <Scope S> __device__ int ld_##kind(const int *at)                                     \
    {                                                                                              \
        int v;                                                                                     \
        FOR_SCOPE("ld." #kind ".", ".global.u32 %0, [%1];", : "=r"(v) : "l"(at) : "memory");       \
        return v;                                                                                  \
    }
#define FENCE(kind)                                                                                \
    template <Scope S> __device__ void fence_##kind()                                              \
    {                                                                                              \
        FOR_SCOPE("fence." #kind ".", ";", ::: "memory");                                          \
    }
STORE(relaxed)
STORE(release)
LOAD(relaxed)
LOAD(acquire)
FENCE(acq_rel)
FENCE(sc)

// Of a scope that does not reach the other threads; for warps of a block there is none.
template <Scope S> __device__ void fence_narrow()
{
    if (S == GPU)
        fence_sc<CTA>();
    else if (S == SYS)
        fence_sc<GPU>();
}

__device__ void st_volatile(int *at, int v)
{
    asm volatile("st.volatile.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
}
__device__ int ld_volatile(const int *at)
{
    int v;
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

__device__ void st_weak(int *at, int v)
{
    asm volatile("st.weak.global.u32 [%0], %1;" ::"l"(at), "r"(v) : "memory");
}
__device__ int ld_weak(const int *at)
{
    int v;
    asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}
template <Scope S> __device__ int add(int *at)
{
    int v;
    FOR_SCOPE("atom.relaxed.", ".global.add.u32 %0, [%1], 1;", : "=r"(v) : "l"(at) : "memory");
    return v;
}

// ---- turns: the order in which the accesses of a round are begun, another one in each round ----

// All threads compute the same order. Turns are passed by relaxed accesses, which order nothing
// else.
struct Turns {
    int *turn;
    const char *accesses; // how many each thread has
    unsigned seed;
    int thread, done;

    // The place of this thread's next access among all of them.
    __device__ int place() const
    {
        int left[THREADS_MAX], all = 0, own = 0;
        unsigned random = seed;
        for (int t = 0; t < THREADS_MAX; t++)
            all += left[t] = accesses[t] - '0';
        for (int at = 0;; at++, all--) {
            random = random * 747796405u + 2891336453u;
            unsigned mixed = (random >> ((random >> 28) + 4) ^ random) * 277803737u;
            int chosen = (int)((mixed >> 22 ^ mixed) % (unsigned)all), t = 0;
            while (chosen >= left[t])
                chosen -= left[t++];
            left[t]--;
            if (t == thread && own++ == done)
                return at;
        }
    }
    __device__ void wait() const
    {
        int mine = place();
        while (ld_relaxed<SYS>(turn) != mine)
            ;
    }
    __device__ void pass()
    {
        st_relaxed<SYS>(turn, place() + 1);
        done++;
    }
};
#define STEP(access) w.wait(), access, w.pass()

#include "litmus_programs.h"

#define KERNEL(name, list)                                                                         \
    __device__ const char name##_accesses[] = list;                                                \
    template <Scope S> __global__ void name##_kernel(Memory m, int rounds, int first, int step)    \
    {                                                                                              \
        int t = first + step * (int)(blockIdx.x + threadIdx.x / 32);                               \
        for (int i = 0; i < rounds && threadIdx.x % 32 == 0; i++) {                                \
            Turns w = {m.turn + i * STRIDE, name##_accesses, (unsigned)i, t, 0};                   \
            name<S>(w, t, m.x + i * STRIDE, m.y + i * STRIDE, m.r + (i * THREADS_MAX + t) * 2);    \
        }                                                                                          \
    }                                                                                              \
    const void *const name##_of[] = {(const void *)name##_kernel<CTA>,                             \
                                     (const void *)name##_kernel<GPU>,                             \
                                     (const void *)name##_kernel<SYS>};

// What two threads cannot have read of stores of 1 and 2 that have one order.
#define ANOTHER_ORDER                                                                              \
    "0010 0020 0110 0120 0210 0220 1000 1001 1002 1010 1011 1012 1020 1021 1022 1110 1120 1210 "   \
    "1220 1221 2000 2001 2002 2010 2011 2012 2020 2021 2022 2110 2112 2120 2210 2220"

// A test's threads, how many accesses each has, and which outcomes the model forbids: the values
// that were read, in the order of threads; behind an exclamation mark, those that it allows.
#define FOR_TESTS(DO)                                                                              \
    DO(mp_release_acquire, 2, "2200", "10")                                                        \
    DO(mp_fence, 2, "2200", "10")                                                                  \
    DO(mp_relaxed, 2, "2200", "")                                                                  \
    DO(mp_volatile, 2, "2200", "10")                                                               \
    DO(mp_narrow_writer, 2, "2200", "")                                                            \
    DO(mp_narrow_reader, 2, "2200", "")                                                            \
    DO(mp_atomic, 4, "2120", "120")                                                                \
    DO(wrc_release_acquire, 4, "1220", "110")                                                      \
    DO(wrc_relaxed, 4, "1220", "")                                                                 \
    DO(sb_fence_sc, 2, "2200", "00")                                                               \
    DO(sb_release_acquire, 2, "2200", "")                                                          \
    DO(sb_relaxed, 2, "2200", "")                                                                  \
    DO(lb_release_acquire, 2, "2200", "11")                                                        \
    DO(lb_relaxed, 2, "1100", "")                                                                  \
    DO(lb_data, 2, "1100", "11")                                                                   \
    DO(lb_address, 2, "1100", "11")                                                                \
    DO(lb_fence, 2, "1100", "11")                                                                  \
    DO(lb_control, 2, "1100", "11")                                                                \
    DO(iriw_fence_sc, 4, "1122", "1010")                                                           \
    DO(iriw_acquire, 4, "1122", "")                                                                \
    DO(iriw_relaxed, 4, "1122", "")                                                                \
    DO(corr, 2, "1200", "10")                                                                      \
    DO(cowr, 2, "3300", "!1122 1121 1111 1222 2222")                                               \
    DO(atom_add, 2, "1100", "00 11")                                                               \
    DO(atom_store, 2, "1200", "01")                                                                \
    DO(coww, 4, "1122", ANOTHER_ORDER)                                                             \
    DO(w22_fence_sc, 2, "3300", "11")                                                              \
    DO(w22_release, 2, "3300", "")                                                                 \
    DO(w22_relaxed, 2, "3300", "")                                                                 \
    DO(s_release_acquire, 2, "2300", "12")                                                         \
    DO(s_relaxed, 2, "2300", "")                                                                   \
    DO(mp_swapped, 2, "2200", "10")
#define KERNEL_OF(name, threads, accesses, forbidden) KERNEL(name, accesses)
FOR_TESTS(KERNEL_OF)

static void check(cudaError_t error, int line)
{
    if (error == cudaSuccess)
        return;
    printf("line %d: %s\n", line, cudaGetErrorString(error));
    exit(2);
}
#define OK(call) check(call, __LINE__)

struct Test {
    const char *name;
    int threads;
    const char *forbidden;
    const void *const *kernel;
};

// The values that threads have read, as characters.
static void outcome_of(const Test &test, const int *r, char *to)
{
    for (int t = 0; t < test.threads; t++)
        for (int k = 0; k < 2; k++)
            if (r[t * 2 + k] >= 0)
                *to++ = (char)('0' + r[t * 2 + k]);
    *to = '\0';
}

struct Seen {
    char outcome[16];
    int times;
};

static bool is_forbidden(const Test &test, const char *outcome)
{
    return (strstr(test.forbidden, outcome) != nullptr) != (test.forbidden[0] == '!');
}

static bool judge(const Test &test, const char *scope, const int *r, int rounds)
{
    Seen seen[82] = {}; // 3 values, 4 times, and an end
    bool right = true;
    for (int i = 0; i < rounds; i++) {
        char outcome[16];
        outcome_of(test, r + i * THREADS_MAX * 2, outcome);
        Seen *s = seen;
        while (s->times > 0 && strcmp(s->outcome, outcome) != 0)
            s++;
        strcpy(s->outcome, outcome);
        s->times++;
        right &= !is_forbidden(test, outcome);
    }
    printf("%s %s:", test.name, scope);
    for (const Seen *s = seen; s->times > 0; s++)
        printf(" %s x %d%s", s->outcome, s->times,
               is_forbidden(test, s->outcome) ? " FORBIDDEN" : "");
    printf("\n");
    return right;
}

static bool run(const Test &test, Scope scope, const Memory &m, int rounds)
{
    static const char *const names[] = {"cta", "gpu", "sys"};
    const int bytes = rounds * STRIDE * (int)sizeof(int);
    OK(cudaMemset(m.x, 0, bytes));
    OK(cudaMemset(m.y, 0, bytes));
    OK(cudaMemset(m.turn, 0, bytes));
    OK(cudaMemset(m.r, -1, rounds * THREADS_MAX * 2 * (int)sizeof(int)));
    OK(cudaDeviceSynchronize());
    for (int gpu = 0; gpu < (scope == SYS ? 2 : 1); gpu++) {
        int here = scope == SYS ? test.threads / 2 : test.threads, step = scope == SYS ? 2 : 1;
        Memory memory = m;
        int first = gpu;
        void *arguments[] = {&memory, &rounds, &first, &step};
        OK(cudaSetDevice(gpu));
        OK(cudaLaunchKernel(test.kernel[scope], scope == CTA ? 1 : here,
                            scope == CTA ? here * 32 : 32, arguments, 0, 0));
    }
    for (int gpu = 1; gpu >= 0; gpu--) {
        OK(cudaSetDevice(gpu));
        OK(cudaDeviceSynchronize());
    }
    int *r = (int *)malloc(rounds * THREADS_MAX * 2 * sizeof(int));
    OK(cudaMemcpy(r, m.r, rounds * THREADS_MAX * 2 * sizeof(int), cudaMemcpyDefault));
    bool right = judge(test, names[scope], r, rounds);
    free(r);
    return right;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 100;
    const size_t bytes = (size_t)rounds * STRIDE * sizeof(int);
    Memory m;
    bool right = true;
#define TEST_OF(name, threads, accesses, forbidden) {#name, threads, forbidden, name##_of},
    const Test tests[] = {FOR_TESTS(TEST_OF)};
    for (int gpu = 1; gpu >= 0; gpu--) {
        OK(cudaSetDevice(gpu));
        OK(cudaDeviceEnablePeerAccess(1 - gpu, 0));
        OK(cudaMalloc(gpu == 0 ? &m.x : &m.y, bytes));
    }
    OK(cudaMalloc(&m.r, rounds * THREADS_MAX * 2 * sizeof(int)));
    OK(cudaMalloc(&m.turn, bytes));
    for (const Test &test : tests)
        for (Scope scope : {CTA, GPU, SYS})
            if (argc < 3 ? strcmp(test.name, "mp_swapped") != 0 : !strcmp(argv[2], test.name))
                right &= run(test, scope, m, rounds);
    return right ? 0 : 1;
}

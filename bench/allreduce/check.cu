/* SPDX-License-Identifier: MIT
 * check.cu: a stress test of correctness: random sizes, random numbers, ranks that are late.
 *
 *     allreduce-check [--gpus N] [--calls N] [--most BYTES] [--seed N]
 *                     [--way one-shot|two-shot|engines|any]
 *
 * Every call's sums are compared bit by bit with those of a loop in the order of ranks. Between
 * calls a rank may wait on the host or keep its GPU busy; calls are made in runs without a pause,
 * in place and out of place, so that ranks are at different calls at the same time. Without --way
 * the library chooses; `any` uses another way at every call.
 */
#include <string.h>
#include <time.h>

#include "allreduce.h"
#include "data.h"
#include "team.h"

#define RUN 8 /* calls without waiting in between */
#define ANY AR_WAYS

struct options {
    int gpus, calls, way;
    size_t most;
    unsigned seed;
    struct ar_group *group;
};

struct rank {
    const struct options *options;
    int number;
    cudaStream_t stream;
    float *send, *recv; /* of the run's calls, one after the other */
};

/* A call of a run: the same on all ranks. */
struct call {
    size_t count, at; /* count: floats; at: index of the first */
    bool in_place;
    unsigned seed;
    int way; /* -1: the library's choice */
};

static unsigned next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Sizes of every order of magnitude, odd ones and powers of two. */
static size_t some_count(unsigned *state, size_t most)
{
    int bits = 1;
    while (((size_t)1 << bits) < most)
        bits++;
    size_t count = (size_t)1 << (next(state) % (unsigned)(bits + 1));
    if (next(state) % 4)
        count += next(state) % count;
    return count < most ? count : most;
}

static void busy_for(long microseconds)
{
    struct timespec t = {0, microseconds * 1000};
    nanosleep(&t, NULL);
}

static __global__ void spin(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++)
        __nanosleep(1000);
}

/* Random delays of this rank alone. */
static void come_late(const struct rank *r, unsigned *state)
{
    unsigned choice = next(state) % 8;

    if (choice == 0)
        busy_for(next(state) % 500);
    else if (choice == 1)
        spin<<<1, 1, 0, r->stream>>>(next(state) % 300);
    CHECK(cudaGetLastError());
}

static void run(const struct rank *r, const struct call *calls, int n, unsigned *late)
{
    const struct options *o = r->options;

    for (int c = 0; c < n; c++) {
        const struct call *k = &calls[c];
        come_late(r, late);
        data_fill(k->in_place ? r->recv : r->send, k->count, DATA_FLOATS, k->seed, r->number,
                  r->stream);
        const float *send = k->in_place ? r->recv : r->send;
        if (k->way < 0)
            CHECK(ar_all_reduce(o->group, r->number, send, k->count, r->stream));
        else
            CHECK(ar_all_reduce_by(o->group, (enum ar_way)k->way, r->number, send, k->count,
                                   r->stream));
        CHECK(cudaMemcpyAsync(r->send + o->most / sizeof(float) + k->at, r->recv,
                              k->count * sizeof(float), cudaMemcpyDeviceToDevice, r->stream));
    }
}

static void verify(const struct rank *r, const struct call *calls, int n)
{
    const struct options *o = r->options;

    for (int c = 0; c < n; c++) {
        const struct call *k = &calls[c];
        struct data_verdict v = data_check(r->send + o->most / sizeof(float) + k->at, k->count,
                                           DATA_FLOATS, k->seed, o->gpus, r->stream);
        if (v.wrong == 0)
            continue;
        fprintf(stderr,
                "rank %d: %llu of %zu floats are wrong, the first is %llu (%s, seed %u, %s): every "
                "rank must hold the sum in the order of ranks\n",
                r->number, v.wrong, k->count, v.first, k->in_place ? "in place" : "out of place",
                k->seed,
                ar_way_name(k->way < 0 ? ar_choice(o->gpus, k->count * 4) : (enum ar_way)k->way));
        exit(1);
    }
}

/* Chooses the calls of a run; together they fit into `most`. */
static int some_calls(const struct options *o, struct call *calls, unsigned *state, int left)
{
    size_t room = o->most / sizeof(float), at = 0;
    int n = 0;

    while (n < RUN && n < left) {
        size_t count = some_count(state, o->most / sizeof(float));
        if (count > room - at)
            break;
        calls[n] = {count, at, next(state) % 2 == 0, next(state), o->way};
        if (o->way == ANY)
            calls[n].way = (int)(next(state) % AR_WAYS);
        n++;
        at += count;
    }
    return n;
}

static void body(struct team *team, int number, void *argument)
{
    struct options *o = (struct options *)argument;
    struct rank r = {o, number, NULL, NULL, NULL};
    unsigned state = o->seed, late = o->seed * 31 + number;

    CHECK(cudaStreamCreateWithFlags(&r.stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc((void **)&r.send, 2 * o->most));
    CHECK(cudaMalloc((void **)&r.recv, o->most));
    CHECK(ar_register(o->group, number, r.recv));
    team_barrier(team, number);
    for (int done = 0; done < o->calls;) {
        struct call calls[RUN];
        int n = some_calls(o, calls, &state, o->calls - done);
        run(&r, calls, n, &late);
        verify(&r, calls, n);
        done += n;
        if (next(&state) % 16 == 0)
            team_barrier(team, number);
    }
    CHECK(cudaStreamSynchronize(r.stream));
    team_barrier(team, number);
    CHECK(cudaFree(r.send));
    CHECK(cudaFree(r.recv));
    CHECK(cudaStreamDestroy(r.stream));
}

static int way_of(const char *name)
{
    if (strcmp(name, "any") == 0)
        return ANY;
    for (int way = 0; way < AR_WAYS; way++)
        if (strcmp(name, ar_way_name((enum ar_way)way)) == 0)
            return way;
    fprintf(stderr, "allreduce-check: --way is one-shot, two-shot, engines or any, not %s\n", name);
    exit(2);
}

static struct options read_options(int argc, char **argv)
{
    struct options o = {4, 1000, -1, (size_t)16 << 20, 1, NULL};

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--gpus") == 0)
            o.gpus = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--calls") == 0)
            o.calls = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--most") == 0)
            o.most = (size_t)atoll(argv[i + 1]) / 16 * 16;
        else if (strcmp(argv[i], "--seed") == 0)
            o.seed = (unsigned)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--way") == 0)
            o.way = way_of(argv[i + 1]);
        else
            argc = 0;
    }
    if (argc % 2 == 0 || o.gpus < 1 || o.gpus > AR_RANKS || o.most < 16) {
        fprintf(stderr,
                "usage: allreduce-check [--gpus 1..8] [--calls N] [--most BYTES, 16 or more] "
                "[--way one-shot|two-shot|engines|any] [--seed N]\n");
        exit(2);
    }
    return o;
}

int main(int argc, char **argv)
{
    struct options o = read_options(argc, argv);
    int gpu[AR_RANKS] = {0, 1, 2, 3, 4, 5, 6, 7}, there = 0;

    CHECK(cudaGetDeviceCount(&there));
    if (there < o.gpus) {
        fprintf(stderr, "allreduce-check: --gpus %d, and this machine has %d\n", o.gpus, there);
        return 2;
    }
    CHECK(ar_open(&o.group, gpu, o.gpus, o.most));
    team_run(o.gpus, 120, body, &o);
    ar_close(o.group);
    printf(
        "allreduce-check: %d calls on %d GPUs, up to %zu bytes, seed %u: every bit as it must be\n",
        o.calls, o.gpus, o.most, o.seed);
    return 0;
}

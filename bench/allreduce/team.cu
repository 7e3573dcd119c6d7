/* SPDX-License-Identifier: MIT
 * team.cu: threads, and a barrier that spins, since it is part of the timed section.
 */
#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "allreduce.h"

struct team {
    int n;
    unsigned patience;
    int arrived, round; /* atomics */
    int at[AR_RANKS];   /* the latest round of each rank: for the watchdog */
    int ended;
    void (*body)(struct team *, int, void *);
    void *argument;
};

struct member {
    struct team *team;
    int rank;
};

double team_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

void team_barrier(struct team *team, int rank)
{
    int round = __atomic_load_n(&team->round, __ATOMIC_ACQUIRE);

    __atomic_store_n(&team->at[rank], round + 1, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&team->arrived, 1, __ATOMIC_ACQ_REL) == team->n) {
        __atomic_store_n(&team->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&team->round, round + 1, __ATOMIC_RELEASE);
        return;
    }
    while (__atomic_load_n(&team->round, __ATOMIC_ACQUIRE) == round)
        sched_yield();
}

static void *member_main(void *of)
{
    struct member *m = (struct member *)of;

    CHECK(cudaSetDevice(m->rank));
    m->team->body(m->team, m->rank, m->team->argument);
    return NULL;
}

static void report(const struct team *team, int round)
{
    fprintf(stderr, "allreduce: no rank has got to a barrier for %u s; missing at barrier %d:",
            team->patience, round + 1);
    for (int r = 0; r < team->n; r++)
        if (__atomic_load_n(&team->at[r], __ATOMIC_RELAXED) <= round)
            fprintf(stderr, " rank %d", r);
    fprintf(stderr, "\n");
    _exit(3);
}

static void *watch(void *of)
{
    const struct team *team = (const struct team *)of;
    int round = -1, last = -1;
    double since = team_now();

    while (!__atomic_load_n(&team->ended, __ATOMIC_ACQUIRE)) {
        int sum = __atomic_load_n(&team->arrived, __ATOMIC_RELAXED);
        round = __atomic_load_n(&team->round, __ATOMIC_RELAXED);
        if (round * AR_RANKS + sum != last) {
            last = round * AR_RANKS + sum;
            since = team_now();
        } else if (team_now() - since > team->patience * 1e6) {
            report(team, round);
        }
        usleep(10000);
    }
    return NULL;
}

static void start(pthread_t *thread, void *(*body)(void *), void *argument)
{
    if (pthread_create(thread, NULL, body, argument)) {
        fprintf(stderr, "allreduce: no thread could be started\n");
        exit(1);
    }
}

void team_run(int n, unsigned patience, void (*body)(struct team *, int, void *), void *argument)
{
    struct team team = {};
    struct member member[AR_RANKS];
    pthread_t thread[AR_RANKS], watchdog;

    team.n = n;
    team.patience = patience;
    team.body = body;
    team.argument = argument;
    start(&watchdog, watch, &team);
    for (int r = 0; r < n; r++) {
        member[r] = {&team, r};
        start(&thread[r], member_main, &member[r]);
    }
    for (int r = 0; r < n; r++)
        pthread_join(thread[r], NULL);
    __atomic_store_n(&team.ended, 1, __ATOMIC_RELEASE);
    pthread_join(watchdog, NULL);
}

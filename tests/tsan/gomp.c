/* SPDX-License-Identifier: MIT
 * gomp.c: of libgomp what together.c needs. ThreadSanitizer does not see how the real one's threads
 * wait for each other, and would report each region.
 */
#include <pthread.h>

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);

enum { MOST = 8 };

struct team {
    void (*body)(void *);
    void *data;
    pthread_barrier_t barrier;
};

static _Thread_local struct team *team;

static void *run_body(void *of)
{
    team = of;
    team->body(team->data);
    return NULL;
}

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags)
{
    struct team own = {.body = body, .data = data};
    pthread_t thread[MOST];
    (void)flags;
    if (pthread_barrier_init(&own.barrier, NULL, threads) != 0)
        return;
    for (unsigned i = 1; i < threads; i++)
        pthread_create(&thread[i], NULL, run_body, &own);
    run_body(&own);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&own.barrier);
}

void GOMP_barrier(void)
{
    pthread_barrier_wait(&team->barrier);
}

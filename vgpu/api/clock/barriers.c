/* SPDX-License-Identifier: MIT
 * barriers.c: clock synchronisation at pthread_barrier_wait: all threads leave it with the latest
 * clock of those that met there.
 *
 * Each wait makes two waits of the library's barrier. Before the first, every thread merges its
 * clock into the barrier's; after it, every thread takes the result; the second keeps any thread
 * from merging its clock for the next meeting before all have taken that of this one. The barrier's
 * clock need not be reset: a thread that comes back has at least this clock.
 *
 * Barriers in memory shared between processes synchronise no clocks, since the table is local to
 * the process.
 */
#include "clock_sync.h"

#include <pthread.h>
#include <stdlib.h>

struct place {
    const pthread_barrier_t *barrier;
    vgpu__clock clock;
    struct place *next;
};

#define LISTS 64

static pthread_mutex_t barriers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct place *barrier_lists[LISTS]; /* guarded by barriers_lock */

static struct place **find_barrier_place(const pthread_barrier_t *barrier)
{
    struct place **at =
        &barrier_lists[((uint64_t)(uintptr_t)barrier * 0x9E3779B97F4A7C15ull) >> 58];
    while (*at && (*at)->barrier != barrier)
        at = &(*at)->next;
    return at;
}

static void forget_barrier(const pthread_barrier_t *barrier)
{
    pthread_mutex_lock(&barriers_lock);
    struct place **at = find_barrier_place(barrier), *place = *at;
    if (place)
        *at = place->next;
    pthread_mutex_unlock(&barriers_lock);
    free(place);
}

static void remember_barrier(const pthread_barrier_t *barrier)
{
    struct place *place = calloc(1, sizeof *place);
    forget_barrier(barrier);
    if (!place)
        return;
    place->barrier = barrier;
    pthread_mutex_lock(&barriers_lock);
    struct place **at = find_barrier_place(barrier);
    *at = place;
    pthread_mutex_unlock(&barriers_lock);
}

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
                         unsigned int count)
{
    typedef int function(pthread_barrier_t *, const pthread_barrierattr_t *, unsigned int);
    VGPU__REAL(function, pthread_barrier_init);
    int shared = PTHREAD_PROCESS_PRIVATE;
    int error = real(barrier, attr, count);
    if (error == 0 && attr)
        pthread_barrierattr_getpshared(attr, &shared);
    if (error == 0 && shared == PTHREAD_PROCESS_PRIVATE)
        remember_barrier(barrier);
    return error;
}

int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    typedef int function(pthread_barrier_t *);
    VGPU__REAL(function, pthread_barrier_destroy);
    int error = real(barrier);
    if (error == 0)
        forget_barrier(barrier);
    return error;
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    typedef int function(pthread_barrier_t *);
    VGPU__REAL(function, pthread_barrier_wait);
    pthread_mutex_lock(&barriers_lock);
    struct place *place = *find_barrier_place(barrier);
    pthread_mutex_unlock(&barriers_lock);
    if (!place)
        return real(barrier);
    vgpu__clock_give(&place->clock);
    int first = real(barrier);
    vgpu__clock_take(&place->clock);
    real(barrier);
    return first;
}

/* SPDX-License-Identifier: MIT
 * thread_clocks.c: a thread begins with the clock of the thread that created it, and a thread that
 * joins it continues no earlier than its end. std::thread and C11 threads call these functions,
 * too.
 */
#include "clock_sync.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "core.h"
#include "thread_clocks.h"

void vgpu__thread_clocks(void) {}

/* The clock of a thread. It stays in the table until the thread is joined or its id is reused. */
struct vgpu__life {
    atomic_int refs; /* held by the thread and by the table */
    pthread_t id;
    vgpu__clock clock;
    void *(*start)(void *);
    void *argument;
    struct vgpu__life *next; /* guarded by lives_lock */
};

#define LISTS 256

static pthread_mutex_t lives_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu__life *life_lists[LISTS]; /* guarded by lives_lock */
static pthread_once_t life_key_once = PTHREAD_ONCE_INIT;
static pthread_key_t life_key;

/* ---- the table ---- */

static struct vgpu__life **life_list(pthread_t id)
{
    return &life_lists[((uint64_t)id * 0x9E3779B97F4A7C15ull) >> 56];
}

static void drop_life(struct vgpu__life *life)
{
    if (life && atomic_fetch_sub(&life->refs, 1) == 1)
        free(life);
}

/* Removes the thread from the table; the caller now owns the table's reference. NULL: not in the
 * table. lives_lock is held. */
static struct vgpu__life *remove_life(pthread_t id)
{
    struct vgpu__life **at = life_list(id);
    while (*at && !pthread_equal((*at)->id, id))
        at = &(*at)->next;
    struct vgpu__life *life = *at;
    if (life)
        *at = life->next;
    return life;
}

static void insert_life(struct vgpu__life *life)
{
    struct vgpu__life **list = life_list(life->id);
    drop_life(remove_life(life->id)); /* a detached thread that has ended */
    life->next = *list;
    *list = life;
}

static struct vgpu__life *find_life(pthread_t id)
{
    pthread_mutex_lock(&lives_lock);
    struct vgpu__life *life = *life_list(id);
    while (life && !pthread_equal(life->id, id))
        life = life->next;
    if (life)
        atomic_fetch_add(&life->refs, 1);
    pthread_mutex_unlock(&lives_lock);
    return life;
}

/* ---- code that runs in the thread ---- */

static void clocked_thread_ends(void *argument)
{
    vgpu__thread_registered(); /* if it has not called yet, it never will */
    vgpu__self.shown_clock = NULL;
    drop_life(argument);
}

static void lock_lives(void)
{
    pthread_mutex_lock(&lives_lock);
}

static void unlock_lives(void)
{
    pthread_mutex_unlock(&lives_lock);
}

static void set_up_lives(void)
{
    pthread_key_create(&life_key, clocked_thread_ends);
    pthread_atfork(lock_lives, unlock_lives, unlock_lives);
}

static void *begin_thread(void *argument)
{
    struct vgpu__life *life = argument;
    vgpu__self.clock_ps = atomic_load(&life->clock);
    vgpu__self.shown_clock = &life->clock;
    pthread_setspecific(life_key, life);
    return life->start(life->argument);
}

/* ---- pthread_create ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
                   void *argument)
{
    typedef int function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    VGPU__REAL(function, pthread_create);
    struct vgpu__life *life = calloc(1, sizeof *life);
    if (!life)
        return EAGAIN;
    pthread_once(&life_key_once, set_up_lives);
    *life = (struct vgpu__life){
        .refs = 2, .clock = vgpu__self.clock_ps, .start = start, .argument = argument};
    vgpu__thread_made(true);
    /* Held during creation: the thread may end, and another thread join it, before its id is
     * stored.
     */
    pthread_mutex_lock(&lives_lock);
    int error = real(thread, attr, begin_thread, life);
    if (error == 0) {
        life->id = *thread;
        insert_life(life);
    }
    pthread_mutex_unlock(&lives_lock);
    if (error != 0) {
        vgpu__thread_made(false);
        free(life);
    }
    return error;
}

/* ---- joins ---- */

/* The thread of `life` was joined (if `error` is 0): the caller takes its clock. Drops the caller's
 * reference and returns `error`. */
static int thread_joined(struct vgpu__life *life, int error)
{
    if (life && error == 0) {
        vgpu__clock_take(&life->clock);
        pthread_mutex_lock(&lives_lock);
        struct vgpu__life **at = life_list(life->id);
        while (*at && *at != life)
            at = &(*at)->next;
        bool listed = *at;
        if (listed)
            *at = life->next;
        pthread_mutex_unlock(&lives_lock);
        if (listed)
            drop_life(life);
    }
    drop_life(life);
    return error;
}

int pthread_join(pthread_t thread, void **result)
{
    typedef int function(pthread_t, void **);
    VGPU__REAL(function, pthread_join);
    struct vgpu__life *life = find_life(thread);
    return thread_joined(life, real(thread, result));
}

int pthread_tryjoin_np(pthread_t thread, void **result)
{
    typedef int function(pthread_t, void **);
    VGPU__REAL(function, pthread_tryjoin_np);
    struct vgpu__life *life = find_life(thread);
    return thread_joined(life, real(thread, result));
}

int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
    typedef int function(pthread_t, void **, const struct timespec *);
    VGPU__REAL(function, pthread_timedjoin_np);
    struct vgpu__life *life = find_life(thread);
    return thread_joined(life, real(thread, result, until));
}

/* ---- C11 ---- */

struct c11 {
    thrd_start_t start;
    void *argument;
};

static void *begin_c11(void *argument)
{
    struct c11 given = *(struct c11 *)argument;
    free(argument);
    return (void *)(intptr_t)given.start(given.argument); /* NOLINT: as thrd_exit passes it on */
}

int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    struct c11 *given = malloc(sizeof *given);
    if (!given)
        return thrd_nomem;
    *given = (struct c11){start, argument};
    int error = pthread_create(thread, NULL, begin_c11, given);
    if (error != 0)
        free(given);
    return error == 0 ? thrd_success : error == ENOMEM ? thrd_nomem : thrd_error;
}

int thrd_join(thrd_t thread, int *result)
{
    void *found = NULL;
    if (pthread_join(thread, &found) != 0)
        return thrd_error;
    if (result)
        *result = (int)(intptr_t)found;
    return thrd_success;
}

/* SPDX-License-Identifier: MIT
 * openmp_gnu.c: clock synchronisation for OpenMP code compiled by gcc. The threads of a region
 * begin with the clock of the thread that entered it, and that thread continues with the latest of
 * their clocks. All members of a team leave a barrier with the latest clock, also the barrier at
 * the end of a loop or of sections. These functions are used only in programs that call them.
 */
#include "clock_sync.h"

#include <stdbool.h>
#include <stddef.h>

#include "core.h"

typedef void region(void *);

struct given {
    region *body;
    void *data;
    struct vgpu__team team;
};

static void begin_gnu_worker(void *argument)
{
    struct given *given = argument;
    struct vgpu__team *outer;
    vgpu__team_join(&given->team, &outer);
    given->body(given->data);
    vgpu__team_leave(&given->team, outer);
}

__attribute__((weak)) void GOMP_parallel(region *body, void *data, unsigned threads,
                                         unsigned flags);
void GOMP_parallel(region *body, void *data, unsigned threads, unsigned flags)
{
    typedef void function(region *, void *, unsigned, unsigned);
    VGPU__REAL(function, GOMP_parallel);
    struct given given = {body, data, {vgpu__self.clock_ps, vgpu__self.clock_ps}};
    real(begin_gnu_worker, &given, threads, flags);
    vgpu__clock_take(&given.team.clock);
}

__attribute__((weak)) void GOMP_parallel_sections(region *body, void *data, unsigned threads,
                                                  unsigned count, unsigned flags);
void GOMP_parallel_sections(region *body, void *data, unsigned threads, unsigned count,
                            unsigned flags)
{
    typedef void function(region *, void *, unsigned, unsigned, unsigned);
    VGPU__REAL(function, GOMP_parallel_sections);
    struct given given = {body, data, {vgpu__self.clock_ps, vgpu__self.clock_ps}};
    real(begin_gnu_worker, &given, threads, count, flags);
    vgpu__clock_take(&given.team.clock);
}

/* Regions that consist of a loop, with and without a chunk size. */
#define CHUNKED(name)                                                                              \
    __attribute__((weak)) void name(region *body, void *data, unsigned threads, long first,        \
                                    long end, long step, long chunk, unsigned flags);              \
    __attribute__((weak)) void name(region *body, void *data, unsigned threads, long first,        \
                                    long end, long step, long chunk, unsigned flags)               \
    {                                                                                              \
        typedef void function(region *, void *, unsigned, long, long, long, long, unsigned);       \
        VGPU__REAL(function, name);                                                                \
        struct given given = {body, data, {vgpu__self.clock_ps, vgpu__self.clock_ps}};             \
        real(begin_gnu_worker, &given, threads, first, end, step, chunk, flags);                   \
        vgpu__clock_take(&given.team.clock);                                                       \
    }
#define UNCHUNKED(name)                                                                            \
    __attribute__((weak)) void name(region *body, void *data, unsigned threads, long first,        \
                                    long end, long step, unsigned flags);                          \
    __attribute__((weak)) void name(region *body, void *data, unsigned threads, long first,        \
                                    long end, long step, unsigned flags)                           \
    {                                                                                              \
        typedef void function(region *, void *, unsigned, long, long, long, unsigned);             \
        VGPU__REAL(function, name);                                                                \
        struct given given = {body, data, {vgpu__self.clock_ps, vgpu__self.clock_ps}};             \
        real(begin_gnu_worker, &given, threads, first, end, step, flags);                          \
        vgpu__clock_take(&given.team.clock);                                                       \
    }
CHUNKED(GOMP_parallel_loop_static)
CHUNKED(GOMP_parallel_loop_dynamic)
CHUNKED(GOMP_parallel_loop_guided)
CHUNKED(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKED(GOMP_parallel_loop_nonmonotonic_guided)
UNCHUNKED(GOMP_parallel_loop_runtime)
UNCHUNKED(GOMP_parallel_loop_nonmonotonic_runtime)
UNCHUNKED(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* ---- barriers: places where meet_team makes the whole team wait ---- */

static void gnu_barrier(void)
{
    VGPU__REAL(vgpu__function, GOMP_barrier);
    real();
}

/* As in barriers.c, the second wait keeps threads from merging their clocks for the next meeting
 * too early. */
static void meet_team(void (*wait)(void))
{
    struct vgpu__team *team = vgpu__self.team;
    if (team)
        vgpu__clock_give(&team->clock);
    wait();
    if (!team)
        return;
    vgpu__clock_take(&team->clock);
    gnu_barrier();
}

__attribute__((weak)) void GOMP_barrier(void);
void GOMP_barrier(void)
{
    meet_team(gnu_barrier);
}

static void end_loop(void)
{
    VGPU__REAL(vgpu__function, GOMP_loop_end);
    real();
}

__attribute__((weak)) void GOMP_loop_end(void);
void GOMP_loop_end(void)
{
    meet_team(end_loop);
}

static void end_sections(void)
{
    VGPU__REAL(vgpu__function, GOMP_sections_end);
    real();
}

__attribute__((weak)) void GOMP_sections_end(void);
void GOMP_sections_end(void)
{
    meet_team(end_sections);
}

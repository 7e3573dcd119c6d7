/* SPDX-License-Identifier: MIT
 * openmp_llvm.c: OpenMP as clang compiles it; see openmp_gnu.c. Only in programs that call these
 * functions.
 */
#include "clock_sync.h"

#include <stdarg.h>
#include <stddef.h>

#include "core.h"

#define MOST 32 /* addresses of variables that a region shares with what is around it */

typedef void region(int32_t *thread, int32_t *in_team, ...);

struct given {
    region *body;
    void *address[MOST];
    struct vgpu__team team;
};

/* A function takes from its arguments what it knows of: more of them do no harm. */
static void begin_llvm_worker(int32_t *thread, int32_t *in_team, struct given *given)
{
    void **a = given->address;
    struct vgpu__team *outer;
    vgpu__team_join(&given->team, &outer);
    given->body(thread, in_team, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
                a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22],
                a[23], a[24], a[25], a[26], a[27], a[28], a[29], a[30], a[31]);
    vgpu__team_leave(&given->team, outer);
}

void __kmpc_fork_call(void *where, int32_t count, region *body, ...);
void __kmpc_fork_call(void *where, int32_t count, region *body, ...)
{
    typedef void function(void *, int32_t, void (*)(int32_t *, int32_t *, struct given *), ...);
    VGPU__REAL(function, __kmpc_fork_call);
    struct given given = {.body = body, .team = {vgpu__self.clock_ps, vgpu__self.clock_ps}};
    va_list list;
    va_start(list, body);
    for (int i = 0; i < count && i < MOST; i++)
        given.address[i] = va_arg(list, void *);
    va_end(list);
    if (count > MOST)
        vgpu__message("OpenMP",
                      "a parallel region shares %d variables, more than the %d that are "
                      "passed on: put them into a struct",
                      (int)count, MOST);
    real(where, 1, begin_llvm_worker, &given);
    vgpu__clock_take(&given.team.clock);
}

void __kmpc_barrier(void *where, int32_t thread);
void __kmpc_barrier(void *where, int32_t thread)
{
    typedef void function(void *, int32_t);
    VGPU__REAL(function, __kmpc_barrier);
    struct vgpu__team *team = vgpu__self.team;
    if (team)
        vgpu__clock_give(&team->clock);
    real(where, thread);
    if (!team)
        return;
    vgpu__clock_take(&team->clock);
    real(where, thread);
}

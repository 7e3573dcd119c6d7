/* SPDX-License-Identifier: MIT
 * openmp_llvm.c: the same as openmp_gnu.c for OpenMP code compiled by clang. These functions are
 * used only in programs that call them.
 */
#include "clock_sync.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include "core.h"

/* The greatest number of variables that a region can share with the code around it. */
#define SHARED_MAX 256
#define FOUR(a, i) (a)[i], (a)[(i) + 1], (a)[(i) + 2], (a)[(i) + 3]
#define SIXTEEN(a, i) FOUR(a, i), FOUR(a, (i) + 4), FOUR(a, (i) + 8), FOUR(a, (i) + 12)
#define SIXTY_FOUR(a, i)                                                                           \
    SIXTEEN(a, i), SIXTEEN(a, (i) + 16), SIXTEEN(a, (i) + 32), SIXTEEN(a, (i) + 48)

typedef void region(int32_t *thread, int32_t *in_team, ...);

struct given {
    region *body;
    void *address[SHARED_MAX];
    struct vgpu__team team;
};

/* The region's function ignores surplus arguments, so all of them are passed. */
static void begin_llvm_worker(int32_t *thread, int32_t *in_team, struct given *given)
{
    void **a = given->address;
    struct vgpu__team *outer;
    vgpu__team_join(&given->team, &outer);
    given->body(thread, in_team, SIXTY_FOUR(a, 0), SIXTY_FOUR(a, 64), SIXTY_FOUR(a, 128),
                SIXTY_FOUR(a, 192));
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
    for (int i = 0; i < count && i < SHARED_MAX; i++)
        given.address[i] = va_arg(list, void *);
    va_end(list);
    if (count > SHARED_MAX) {
        vgpu__message("OpenMP",
                      "a parallel region shares %d variables, more than the %d that can be passed "
                      "on, and the program ends: put them into a struct",
                      (int)count, SHARED_MAX);
        abort();
    }
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

/* SPDX-License-Identifier: MIT
 * clock_sync.h: clock synchronisation of host threads that wait for each other.
 *
 * Each host thread has a virtual clock (thread.c). If a thread waits for another one (in
 * pthread_join, at a barrier, at the end of an OpenMP region), it cannot continue before the other
 * has got there, so its clock becomes the later of the two. To do this, the runtime defines the
 * waiting functions under their own names and calls the library's.
 *
 * Locks synchronise no clocks: the operating system decides which thread gets a lock first, and
 * virtual time would then differ from run to run.
 */
#ifndef VGPU_CLOCK_SYNC_H
#define VGPU_CLOCK_SYNC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core.h"

/* Merge the calling thread's clock into the clock of a meeting point (before the wait), and advance
 * the thread's clock to it (after the wait). */
void vgpu__clock_give(vgpu__clock *place);
void vgpu__clock_take(const vgpu__clock *place);

/* A team of OpenMP threads, for the duration of its region: the clock at the beginning, and the
 * latest clock of its members so far. */
struct vgpu__team {
    vgpu__clock began, clock;
};
/* The calling thread becomes a member of the team, and leaves it when its part is done. *outer: the
 * team that it belonged to before. */
void vgpu__team_join(struct vgpu__team *team, struct vgpu__team **outer);
void vgpu__team_leave(struct vgpu__team *team, struct vgpu__team *outer);

/* The implementation of a function that the runtime replaces: that of a sanitizer linked into the
 * program, else that of the next library, else libc's under its second name (in a program linked
 * with -static, where vgpu-cc requests it). Aborts the program if there is none. */
typedef void vgpu__function(void);
struct vgpu__real {
    const char *name;
    vgpu__function *sanitizers, *statically; /* NULL: not linked into the program */
};
vgpu__function *vgpu__find_real(const struct vgpu__real *real);

/* Declares `real`, a pointer to the replaced function `name`. For use in the function that replaces
 * it. */
#define VGPU__REAL(type, name)                                                                     \
    extern vgpu__function __interceptor_##name __attribute__((weak));                              \
    extern vgpu__function __##name __attribute__((weak));                                          \
    static const struct vgpu__real known = {#name, __interceptor_##name, __##name};                \
    static _Atomic(vgpu__function *) found;                                                        \
    if (!atomic_load(&found))                                                                      \
        atomic_store(&found, vgpu__find_real(&known));                                             \
    type *real = (type *)atomic_load(&found)

#endif

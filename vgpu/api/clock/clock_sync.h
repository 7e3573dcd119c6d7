/* SPDX-License-Identifier: MIT
 * clock_sync.h: host threads that wait for each other pass on the later clock.
 *
 * Each host thread has a clock of its own (thread.c). Where one thread waits for another, in
 * pthread_join, at a barrier, at the end of an OpenMP region, it cannot go on earlier than the
 * other one got there: its clock becomes the later of the two. We stand before the library's
 * functions for that, under their names, and call the library's.
 *
 * Locks pass on nothing: who gets one first is the operating system's, and so would the clocks be.
 */
#ifndef VGPU_CLOCK_SYNC_H
#define VGPU_CLOCK_SYNC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core.h"

/* The calling thread comes to a place where threads meet, and leaves it with the latest clock. */
void vgpu__clock_give(vgpu__clock *place);
void vgpu__clock_take(const vgpu__clock *place);

/* A team of OpenMP threads, from the beginning to the end of its region. */
struct vgpu__team {
    vgpu__clock began, clock;
};
/* The calling thread is one of them, until it has done its part. *outer: whose it was before. */
void vgpu__team_join(struct vgpu__team *team, struct vgpu__team **outer);
void vgpu__team_leave(struct vgpu__team *team, struct vgpu__team *outer);

/* The function that the program would call without us: the sanitizers', where they lie in the
 * program and not in a library; the next library's; in a program without libraries, libc's under
 * its other name (vgpu-cc asks for that with -static). Ends the program where there is none. */
typedef void vgpu__function(void);
struct vgpu__real {
    const char *name;
    vgpu__function *sanitizers, *statically; /* NULL: not in the program */
};
vgpu__function *vgpu__find_real(const struct vgpu__real *real);

/* In a function that has one `name`: a pointer `real` to it. */
#define VGPU__REAL(type, name)                                                                     \
    extern vgpu__function __interceptor_##name __attribute__((weak));                              \
    extern vgpu__function __##name __attribute__((weak));                                          \
    static const struct vgpu__real known = {#name, __interceptor_##name, __##name};                \
    static _Atomic(vgpu__function *) found;                                                        \
    if (!atomic_load(&found))                                                                      \
        atomic_store(&found, vgpu__find_real(&known));                                             \
    type *real = (type *)atomic_load(&found)

#endif

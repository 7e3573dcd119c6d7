/* SPDX-License-Identifier: MIT
 * clock_sync.c: see clock_sync.h.
 */
#include "clock_sync.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "core.h"

void vgpu__clock_give(vgpu__clock *place)
{
    uint64_t latest = atomic_load(place);
    while (latest < vgpu__self.clock_ps &&
           !atomic_compare_exchange_weak(place, &latest, vgpu__self.clock_ps))
        ;
}

void vgpu__clock_take(const vgpu__clock *place)
{
    uint64_t clock_ps = atomic_load(place);
    if (clock_ps > vgpu__self.clock_ps)
        vgpu__clock_set(clock_ps);
}

vgpu__function *vgpu__find_real(const struct vgpu__real *real)
{
    vgpu__function *function = real->sanitizers;
    if (!function)
        *(void **)(&function) = dlsym(RTLD_NEXT, real->name);
    if (!function)
        function = real->statically;
    if (!function) {
        fprintf(stderr, "vgpu: no library of this program has %s: link it dynamically\n",
                real->name);
        abort();
    }
    return function;
}

void vgpu__team_join(struct vgpu__team *team, struct vgpu__team **outer)
{
    *outer = vgpu__self.team;
    vgpu__self.team = team;
    vgpu__clock_take(&team->began);
}

void vgpu__team_leave(struct vgpu__team *team, struct vgpu__team *outer)
{
    vgpu__clock_give(&team->clock);
    vgpu__self.team = outer;
}

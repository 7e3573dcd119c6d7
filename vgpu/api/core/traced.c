/* SPDX-License-Identifier: MIT
 * traced.c: what is recorded only for programs with a trace: the source line of each call (core.h),
 * and the ranges that the program names with NVTX (nvtx3/nvToolsExt.h). Debug information takes
 * milliseconds to read, so a line is looked up once for each place in the program.
 */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>

#include "text.h"

enum { PLACES = 256 }; /* a power of two; of two places with the same index the later one is kept */

static struct place {
    uint64_t caller;
    char site[96];
} places[PLACES];
static pthread_mutex_t places_lock = PTHREAD_MUTEX_INITIALIZER;

void vgpu__call_site(uint64_t caller, char *site, size_t room)
{
    site[0] = '\0';
    if (!vgpu__process.traced || !caller)
        return;
    pthread_mutex_lock(&places_lock);
    struct place *place = &places[(caller * 0x9e3779b97f4a7c15ull) >> 56];
    if (place->caller != caller) {
        vgpu__symbolize(caller, place->site, sizeof place->site);
        place->caller = caller;
    }
    vgpu_text_copy(site, room, place->site);
    pthread_mutex_unlock(&places_lock);
}

/* ---- NVTX ---- */

enum { DEEPEST = 16 }; /* ranges within these have no row in the trace */

static _Thread_local struct {
    char name[48];
    uint64_t start_ps;
} ranges[DEEPEST];
static _Thread_local int range_depth;

void vgpu_range_push(const char *name)
{
    if (range_depth < DEEPEST) {
        vgpu_text_copy(ranges[range_depth].name, sizeof ranges[range_depth].name,
                       name ? name : "range");
        ranges[range_depth].start_ps = vgpu__self.clock_ps;
    }
    range_depth++;
}

void vgpu_range_pop(void)
{
    struct vgpu_request request = {.op = VGPU_OP_RANGE};
    if (range_depth == 0 || --range_depth >= DEEPEST || !vgpu__process.traced)
        return;
    request.value = ranges[range_depth].start_ps;
    vgpu_text_copy(request.call, sizeof request.call, ranges[range_depth].name);
    vgpu__aside(&request);
}

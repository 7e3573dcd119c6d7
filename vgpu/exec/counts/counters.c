/* SPDX-License-Identifier: MIT
 * counters.c: see counters.h.
 */
#include "counters.h"

#include <string.h>

#include "footprint.h"

uint64_t access_count[2][ACCESS_KINDS][WINDOW_COUNT];
uint64_t access_limit = WINDOW_IMAGE;
uint64_t access_wide;
uint64_t access_pc;
struct access_watchers access_watchers;

const uint8_t access_kind_bytes[ACCESS_KINDS] = {1, 2, 4, 8, 16};

static void set_limit(void)
{
    struct access_watchers *w = &access_watchers;
    access_limit = w->lap || w->sample || w->look || w->weak || footprint_on ? 0 : WINDOW_IMAGE;
    w->only_looking = !w->lap && !w->sample && !w->weak;
}

void access_watch(bool on)
{
    access_watchers.lap = on;
    set_limit();
}

void access_sample(bool on)
{
    access_watchers.sample = on;
    set_limit();
}

void access_look(bool on)
{
    access_watchers.look = on;
    set_limit();
}

void access_weaken(bool on)
{
    access_watchers.weak = on;
    set_limit();
}

void access_footprint(bool on)
{
    footprint_on = on;
    set_limit();
}

static uint64_t window_bytes(bool write, uint32_t window, uint64_t *accesses)
{
    uint64_t bytes = access_count[write][ACCESS_BYTES][window];
    for (uint32_t kind = ACCESS_1; kind <= ACCESS_RANGE; kind++) {
        uint64_t count = access_count[write][kind][window];
        bytes += count * access_kind_bytes[kind];
        *accesses += count;
    }
    return bytes;
}

uint64_t access_total(void)
{
    const uint64_t *count = &access_count[0][0][0];
    uint64_t sum = 0;
    for (unsigned i = 0; i < sizeof access_count / sizeof *count; i++)
        sum += count[i];
    return sum;
}

void access_harvest(struct vgpu_run_counts *counts)
{
    for (uint32_t window = 0; window <= WINDOW_HOST; window++) {
        counts->read_bytes[window] += window_bytes(false, window, &counts->accesses);
        counts->write_bytes[window] += window_bytes(true, window, &counts->accesses);
    }
    for (int write = 0; write < 2; write++)
        (void)window_bytes(write, WINDOW_SHARED, &counts->shared_accesses);
    memset(access_count, 0, sizeof access_count);
}

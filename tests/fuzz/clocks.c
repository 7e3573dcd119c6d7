/* SPDX-License-Identifier: MIT
 * clocks.c: vector clocks. A lane is what runs in order; each knows how far of every other lane it
 * comes after. Memory is touched only where that order is complete, so that what it holds is
 * defined, on hardware as on the virtual node.
 */
#include "fuzz.h"

#include <string.h>

static struct fuzz_clock lanes[FUZZ_LANES];
static int device_of_lane[FUZZ_LANES]; /* -1: not used */
static bool blocking_lane[FUZZ_LANES];
static int next_lane;

struct place {
    int lane, time; /* of the last write; lane -1: none */
    int read[FUZZ_LANES];
};

static struct place places[FUZZ_PLACES];

void clocks_reset(void)
{
    memset(lanes, 0, sizeof lanes);
    memset(places, 0, sizeof places);
    for (int i = 0; i < FUZZ_PLACES; i++)
        places[i].lane = -1;
    for (int i = 0; i < FUZZ_LANES; i++)
        device_of_lane[i] = -1;
    for (int d = 0; d < FUZZ_GPUS; d++) {
        device_of_lane[LANE_THREAD + d] = d;
        blocking_lane[LANE_THREAD + d] = true;
    }
    next_lane = LANE_THREAD + FUZZ_GPUS;
}

int clocks_lane(int device, bool blocking)
{
    if (next_lane == FUZZ_LANES)
        return -1;
    device_of_lane[next_lane] = device;
    blocking_lane[next_lane] = blocking;
    return next_lane++;
}

void clocks_join(struct fuzz_clock *into, const struct fuzz_clock *other)
{
    for (int i = 0; i < FUZZ_LANES; i++)
        if (into->at[i] < other->at[i])
            into->at[i] = other->at[i];
}

static bool is_legacy(int lane)
{
    return lane >= LANE_LEGACY && lane < LANE_THREAD;
}

struct fuzz_clock clocks_told(int lane)
{
    struct fuzz_clock ready = lanes[lane];
    clocks_join(&ready, &lanes[LANE_HOST]);
    return ready;
}

struct fuzz_clock clocks_ready(int lane)
{
    struct fuzz_clock ready = clocks_told(lane);
    if (is_legacy(lane)) {
        for (int i = LANE_THREAD; i < next_lane; i++)
            if (device_of_lane[i] == lane - LANE_LEGACY && blocking_lane[i])
                clocks_join(&ready, &lanes[i]);
    } else if (lane != LANE_HOST && blocking_lane[lane]) {
        clocks_join(&ready, &lanes[LANE_LEGACY + device_of_lane[lane]]);
    }
    return ready;
}

bool clocks_ordered(const struct fuzz_clock *ready, int place, bool write)
{
    const struct place *p = &places[place];
    if (p->lane >= 0 && p->time > ready->at[p->lane])
        return false;
    for (int i = 0; write && i < FUZZ_LANES; i++)
        if (p->read[i] > ready->at[i])
            return false;
    return true;
}

void clocks_issued(int lane, const struct fuzz_clock *ready)
{
    lanes[lane] = *ready;
    lanes[lane].at[lane]++;
}

void clocks_touched(int lane, int place, bool write)
{
    struct place *p = &places[place];
    if (!write) {
        p->read[lane] = lanes[lane].at[lane];
        return;
    }
    p->lane = lane;
    p->time = lanes[lane].at[lane];
}

struct fuzz_clock clocks_of(int lane)
{
    return lanes[lane];
}

void clocks_host_joins(const struct fuzz_clock *other)
{
    clocks_join(&lanes[LANE_HOST], other);
}

void clocks_waited(int lane)
{
    clocks_host_joins(&lanes[lane]);
}

void clocks_waited_all(void)
{
    for (int i = 1; i < FUZZ_LANES; i++)
        clocks_waited(i);
}

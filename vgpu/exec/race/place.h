/* SPDX-License-Identifier: MIT
 * place.h: small numbers for places in device code, for the notes of race.c.
 */
#ifndef VGPU_RACE_PLACE_H
#define VGPU_RACE_PLACE_H

#include <stdint.h>

enum { RACE_PLACES = 1 << 12 };

extern uint64_t race_places[RACE_PLACES]; /* by number; 0: the number is free */

/* Where a place is looked for first. */
static inline uint64_t place_slot(uint64_t pc)
{
    return pc * 0x9E3779B97F4A7C15ull >> 52;
}

/* The number of a place that is not in its first slot; 0: the table is full. */
uint64_t race_place_find(uint64_t pc);

static inline uint64_t race_place(uint64_t pc)
{
    const uint64_t at = place_slot(pc);
    return race_places[at] == pc ? at : race_place_find(pc);
}

#endif

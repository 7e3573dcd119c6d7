/* SPDX-License-Identifier: MIT
 * place.c: see place.h. A hash table that is never emptied.
 */
#include "place.h"

uint64_t race_places[RACE_PLACES];

uint64_t race_place_find(uint64_t pc)
{
    uint64_t at = place_slot(pc);
    for (uint32_t i = 0; i < RACE_PLACES; i++, at = (at + 1) % RACE_PLACES) {
        if (at == 0)
            continue;
        if (!race_places[at])
            race_places[at] = pc;
        if (race_places[at] == pc)
            return at;
    }
    return 0;
}

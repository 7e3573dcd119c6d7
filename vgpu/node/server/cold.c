/* SPDX-License-Identifier: MIT
 * cold.c: see cold.h.
 */
#include "cold.h"

#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "process.h"

static bool cold_wanted; /* VGPU_COLD=1 */

void cold_start(void)
{
    const char *text = getenv("VGPU_COLD");
    cold_wanted = text && strcmp(text, "1") == 0;
}

static bool is_cold(const struct connection *c)
{
    return cold_wanted && c->process && c->request.q.graph == VGPU_GRAPH_NONE;
}

static void add_once(struct connection *c, uint32_t *done, int bit, uint64_t cost_ps)
{
    if (*done >> bit & 1)
        return;
    *done |= 1u << bit;
    c->reply.r.clock_ps += cost_ps;
}

void cold_launch(struct connection *c, int device)
{
    if (is_cold(c))
        add_once(c, &c->process->server.cold.launched, device, machine->cost.cold.launch_ps);
}

/* A pair is set up for both directions. */
void cold_copy(struct connection *c, int from, int to)
{
    if (!is_cold(c) || from < 0 || to < 0 || from == to)
        return;
    int low = from < to ? from : to, high = from < to ? to : from;
    add_once(c, &c->process->server.cold.copied[low], high, machine->cost.cold.pair_ps);
}

void cold_peer(struct connection *c)
{
    if (is_cold(c))
        c->reply.r.clock_ps += machine->cost.cold.peer_ps;
}

void cold_pool(struct connection *c, int device)
{
    if (is_cold(c))
        add_once(c, &c->process->server.cold.pools, device, machine->cost.cold.pool_ps);
}

void cold_contexts(struct connection *c)
{
    if (!is_cold(c))
        return;
    struct cold_done *done = &c->process->server.cold;
    for (int d = 0; d < machine->info.device_count; d++)
        if (c->process->memory.context[d])
            add_once(c, &done->contexts, d, machine->cost.cold.context_ps);
}

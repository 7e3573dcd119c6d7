/* SPDX-License-Identifier: MIT
 * flow.c: flows arrive at the same times, to the picosecond, whatever a node carried before.
 * Rounding follows an order of the routes, which must not be that of their first use.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "unit.h"

#define FLOWS 1000

static struct topology topology;
/* Some copy over the node's links. */
static void add(struct flows *flows, uint64_t now_ps)
{
    static const enum path paths[] = {PATH_PEER, PATH_H2D_PINNED, PATH_D2H_PINNED, PATH_STAGED};
    int n = topology.info.device_count, from = (int)unit_dice((uint64_t)n),
        to = (from + 1 + (int)unit_dice((uint64_t)n - 1)) % n;
    uint64_t bytes = 1 + unit_dice(64 << 20);
    enum path path = paths[unit_dice(sizeof paths / sizeof *paths)];
    struct route route = topology_route(&topology, path, from, to, bytes);
    flows_add(flows, NULL, &route, bytes, now_ps);
}

/* What the numbers of `seed` begin; a new flow for each one that arrives. */
static void carry(struct flows *flows, uint64_t seed, int count, uint64_t *arrived_ps)
{
    unit_seed(seed);
    for (int i = 0; i < count / 4; i++)
        add(flows, 0);
    for (int i = 0; i < count; i++) {
        arrived_ps[i] = flows_next_ps(flows);
        flows_take_arrived(flows, arrived_ps[i]);
        if (i < count - count / 4)
            add(flows, arrived_ps[i]);
    }
    flows_restart(flows);
}

/* NULL: they arrive at the same times on a fresh node and on one that carried others. */
static const char *check_node(const char *node, uint64_t *fresh, uint64_t *later)
{
    char error[512];
    memset(&topology, 0, sizeof topology);
    if (topology_load(&topology, UNIT_ROOT "/vgpu/nodes", node, error, sizeof error) != 0)
        return unit_says("%s", error);
    struct flows *one = flows_new(&topology), *other = flows_new(&topology);
    EXPECT(one && other, "%s", "no memory");
    carry(other, 7, 1000, later);
    carry(one, 3, FLOWS, fresh);
    carry(other, 3, FLOWS, later);
    flows_end(one);
    flows_end(other);
    for (int i = 0; i < FLOWS; i++)
        if (fresh[i] != later[i])
            return unit_says("%s: arrival %d is at %llu ps on a fresh node, at %llu ps on one that "
                             "carried other flows before",
                             node, i, (unsigned long long)fresh[i], (unsigned long long)later[i]);
    return NULL;
}

UNIT(flows_arrive_alike_on_every_node)
{
    static const char *nodes[] = {"dgx-a100", "dgx1-v100", "pcie-dual-socket-4", "hgx-h200-4"};
    static uint64_t fresh[FLOWS], later[FLOWS];
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        const char *wrong = check_node(nodes[i], fresh, later);
        EXPECT(!wrong, "%s", wrong);
    }
}

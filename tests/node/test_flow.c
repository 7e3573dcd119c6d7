/* SPDX-License-Identifier: MIT
 * test_flow.c: flows arrive at the same times, to the picosecond, whatever a node carried before:
 * test_node_flow NODES_DIR. Rounding follows an order of the routes, which must not be that of
 * their first use.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow.h"
#include "schedule.h"

#define FLOWS 4000

static struct topology topology;
static uint64_t state;

static uint64_t dice(uint64_t below)
{
    return vgpu_schedule_next(&state) % below;
}

/* Some copy over the node's links. */
static void add(uint64_t now_ps)
{
    static const enum path paths[] = {PATH_PEER, PATH_H2D_PINNED, PATH_D2H_PINNED, PATH_STAGED};
    int n = topology.info.device_count, from = (int)dice((uint64_t)n),
        to = (from + 1 + (int)dice((uint64_t)n - 1)) % n;
    uint64_t bytes = 1 + dice(64 << 20);
    enum path path = paths[dice(sizeof paths / sizeof *paths)];
    struct route route = topology_route(&topology, path, from, to, bytes);
    flow_add(NULL, &route, bytes, now_ps);
}

/* What the numbers of `seed` begin; a new flow for each one that arrives. */
static void carry(uint64_t seed, int count, uint64_t *arrived_ps)
{
    state = 88172645463325252ull * seed;
    for (int i = 0; i < count / 4; i++)
        add(0);
    for (int i = 0; i < count; i++) {
        arrived_ps[i] = flow_next_ps();
        flow_take_arrived(arrived_ps[i]);
        if (i < count - count / 4)
            add(arrived_ps[i]);
    }
    flow_restart();
}

/* Flows in a process of its own, after `before` others. */
static bool carried(int before, uint64_t *arrived_ps)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        flow_start(&topology);
        if (before > 0)
            carry(7, before, arrived_ps);
        carry(3, FLOWS, arrived_ps);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

static bool same(const char *nodes, const char *node, uint64_t *fresh, uint64_t *later)
{
    char error[512];
    memset(&topology, 0, sizeof topology);
    if (topology_load(&topology, nodes, node, error, sizeof error) != 0) {
        fprintf(stderr, "flow: %s\n", error);
        return false;
    }
    if (!carried(0, fresh) || !carried(1000, later)) {
        fprintf(stderr, "flow: %s: a process ended early\n", node);
        return false;
    }
    for (int i = 0; i < FLOWS; i++)
        if (fresh[i] != later[i]) {
            fprintf(stderr,
                    "flow: %s: arrival %d is at %llu ps on a fresh node, at %llu ps on one that "
                    "carried other flows before\n",
                    node, i, (unsigned long long)fresh[i], (unsigned long long)later[i]);
            return false;
        }
    return true;
}

int main(int argc, char **argv)
{
    static const char *nodes[] = {"dgx-a100", "dgx1-v100", "pcie-dual-socket-4", "hgx-h200-4"};
    const size_t bytes = 2 * FLOWS * sizeof(uint64_t);
    uint64_t *times = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool good = times != MAP_FAILED && argc == 2;
    for (size_t i = 0; good && i < sizeof nodes / sizeof *nodes; i++)
        good = same(argv[1], nodes[i], times, times + FLOWS);
    printf("flow: %s\n", good ? "the same times after other flows" : "FAILED");
    return !good;
}

/* SPDX-License-Identifier: MIT
 * machine.c: see machine.h. The description is read by the virtual node's own reader, so that what
 * the node would refuse is refused here, in the same words.
 */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topology.h"

#define CONTEXT_BYTES                                                                              \
    (512ull << 20)           /* what a context takes of a GPU's memory, as the node counts */
#define LARGE (256ull << 20) /* bytes of a copy that shows the rate, not the latency */

/* Around this program when it is installed, else in the source tree; or $VGPU_NODES. */
static const char *descriptions(void)
{
    static char path[4096];
    const char *folder = getenv("VGPU_NODES");
    if (folder && *folder)
        return folder;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
    path[n < 0 ? 0 : n] = '\0';
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash : path, "/../share/vgpu/nodes");
    return access(path, R_OK) == 0 ? path : VGPU_NODES_DIR;
}

/* What a copy reaches alone: its own limit and that of every link on its way. */
static double rate(const struct topology *t, enum path path, int from, int to)
{
    struct route r = topology_route(t, path, from, to, LARGE);
    double least = r.cap_bytes_s;
    for (int i = 0; i < r.length; i++)
        if (r.resource[i] >= 0 && t->rate_bytes_s[r.resource[i]] < least)
            least = t->rate_bytes_s[r.resource[i]];
    return least;
}

static void read_ring(struct machine *m, const struct topology *t)
{
    enum path slowest = PATH_PEER;
    int n = t->info.device_count;
    m->link_bytes_s = n > 1 ? 1e30 : 0;
    for (int i = 0; i < n && n > 1; i++) {
        int next = (i + 1) % n;
        enum path path = t->info.pair[i][next].access ? PATH_PEER : PATH_STAGED;
        double reached = rate(t, path, i, next);
        slowest = path == PATH_STAGED ? path : slowest;
        m->link_bytes_s = reached < m->link_bytes_s ? reached : m->link_bytes_s;
    }
    m->step_s =
        (double)(t->path[slowest].latency_ps + t->cost.kernel_delay_ps + t->cost.kernel_floor_ps) *
        1e-12;
}

int machine_read(struct machine *m, const char *node, char *error, int room)
{
    static struct topology t;
    if (topology_load(&t, descriptions(), node, error, room) != 0)
        return -1;
    if (t.info.device_count < 1) {
        snprintf(error, (size_t)room, "node %s has no GPUs: gpus is empty", node);
        return -1;
    }
    snprintf(m->name, sizeof m->name, "%.63s", t.info.name);
    snprintf(m->gpu, sizeof m->gpu, "%.63s", t.info.device[0].name);
    m->gpus_a_node = t.info.device_count;
    m->memory_bytes = UINT64_MAX;
    for (int i = 0; i < t.info.device_count; i++)
        if (t.info.device[i].total_bytes - CONTEXT_BYTES < m->memory_bytes)
            m->memory_bytes = t.info.device[i].total_bytes - CONTEXT_BYTES;
    double down = rate(&t, PATH_H2D_PINNED, -1, 0), up = rate(&t, PATH_D2H_PINNED, 0, -1);
    m->pcie_bytes_s = down < up ? down : up;
    m->local_bytes_s = t.memory_bytes_s[0];
    read_ring(m, &t);
    return 0;
}

double machine_ring_rate(const struct machine *m, int n)
{
    double cards = m->net_bytes_s * m->gpus_a_node;
    if (n <= m->gpus_a_node)
        return m->link_bytes_s;
    return m->gpus_a_node > 1 && m->link_bytes_s < cards ? m->link_bytes_s : cards;
}

double machine_ring_s(const struct machine *m, int n, double bytes, int ways)
{
    if (n < 2)
        return 0;
    double part = (double)(n - 1) / n;
    return ways * ((n - 1) * m->step_s + bytes * part / machine_ring_rate(m, n));
}

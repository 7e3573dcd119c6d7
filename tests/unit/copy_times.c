/* SPDX-License-Identifier: MIT
 * copy_times.c: how long a copy takes before its bytes flow (op_costs.h).
 */
#include "op_costs.h"
#include "unit.h"

static struct topology topology;

/* Of a copy of so many bytes from GPU 0 to GPU 1, in a busy stream or in a graph. */
static uint64_t latency_ps(uint64_t bytes, uint8_t graph)
{
    struct op op = {.kind = OP_COPY, .from = 0, .to = 1, .direct = true, .graph = graph};
    op.u.copy.bytes = bytes;
    op.u.copy.rows = 1;
    op.work_ps = 1;
    return copy_latency(&topology, &op);
}

UNIT(more_than_a_kilobyte_between_gpus_takes_a_step_longer)
{
    char error[512];
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "hgx-h200-4", error, sizeof error) ==
               0,
           "%s", error);
    const struct path_model *m = &topology.path[PATH_PEER];
    EXPECT(m->step_ps > 0 && m->step_bytes >= 1, "no step: %d", (int)m->step_ps);
    uint64_t at = (uint64_t)m->step_bytes;
    for (uint8_t graph = VGPU_GRAPH_NONE; graph <= VGPU_GRAPH_NEXT; graph++) {
        uint64_t step_ps = latency_ps(at + 1, graph) - latency_ps(at, graph);
        EXPECT(step_ps == m->step_ps, "a byte more takes %d ps", (int)step_ps);
        EXPECT(latency_ps(64 << 20, graph) == latency_ps(at + 1, graph), "64 MiB have %d ps",
               (int)latency_ps(64 << 20, graph));
    }
}

UNIT(a_path_without_a_step_has_none)
{
    char error[512];
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "dgx1-v100", error, sizeof error) == 0,
           "%s", error);
    EXPECT(latency_ps(1, 0) == latency_ps(64 << 20, 0), "%d ps", (int)latency_ps(1, 0));
}

/* SPDX-License-Identifier: MIT
 * node.c: see node.h.
 */
#include "node.h"

#include "checks.h"
#include "machine.h"
#include "op.h"
#include "order.h"
#include "sim.h"
#include "trace.h"

static struct server_state state;

const struct server_state *node_state(void)
{
    return &state;
}

/* The order matters: the trace makes an operation's record before the checks give advice on it, and
 * vector clocks are joined before times are computed. Stores by the host are observed
 * (server_start) before kernels are cut into slices. */
static void register_observers(void)
{
    trace_observe(state.trace, state.sim);
    checks_observe(state.checks);
}

bool node_start(const struct topology *topology, int info_fd, int node_cpu)
{
    machine_start(topology);
    op_start(topology);
    state = (struct server_state){.order = order_new(),
                                  .sim = sim_new(topology),
                                  .checks = checks_new(),
                                  .trace = trace_new(topology),
                                  .info_fd = info_fd,
                                  .node_cpu = node_cpu};
    if (!state.order || !state.sim || !state.checks || !state.trace)
        return false;
    register_observers();
    bool started = server_start(&state);
    sim_observe(state.sim);
    return started;
}

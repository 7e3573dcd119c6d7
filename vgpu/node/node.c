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

/* The order matters: the trace makes an operation's record before the checks give advice on it, and
 * vector clocks are joined before times are computed. Stores by the host are observed
 * (server_start) before kernels are cut into slices. */
static void register_observers(void)
{
    trace_observe(server_state.trace, server_state.sim);
    checks_observe(server_state.checks);
}

bool node_start(const struct topology *topology, int info_fd, int node_cpu)
{
    machine = topology;
    server_state = (struct server_state){.order = order_new(),
                                         .sim = sim_new(topology),
                                         .checks = checks_new(),
                                         .trace = trace_new(topology),
                                         .info_fd = info_fd,
                                         .node_cpu = node_cpu};
    if (!server_state.order || !server_state.sim || !server_state.checks || !server_state.trace)
        return false;
    register_observers();
    bool started = server_start();
    sim_observe(server_state.sim);
    return started;
}

/* SPDX-License-Identifier: MIT
 * allocations.c: what is remembered and counted of memory: nothing of a process that has ended, and
 * no allocation that failed.
 */
#include "bounds.h"
#include "codes.h"
#include "counts.h"
#include "device_memory.h"
#include "node.h"
#include "op.h"
#include "pool.h"
#include "process.h"
#include "request.h"
#include "topology.h"
#include "unit.h"

static struct topology topology;
static struct process *process;

static void start_node(void)
{
    char error[512] = "";
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "single", error, sizeof error) == 0,
           "%s", error);
    EXPECT(memory_start(&topology.info, error, sizeof error) == 0, "%s", error);
    EXPECT(node_start(&topology, -1, -1), "no node");
    process = process_new(server_state.order, 1, "unit", error, sizeof error);
    EXPECT(process && process_context(process, 0) == 0, "%s", error);
}

UNIT(freed_memory_of_a_process_that_ended)
{
    struct pointee freed;
    start_node();
    uint64_t address = memory_take(&process->memory, 0, 4096, 0);
    EXPECT(address && memory_give(&process->memory, address), "no memory");
    EXPECT(bounds_freed(address, &freed) && freed.owner == &process->memory,
           "it is not remembered");
    memory_give_all(&process->memory, 0);
    EXPECT(bounds_freed(address, &freed), "a reset forgets it");
    process_end(process);
    EXPECT(!bounds_freed(address, &freed), "a process that has ended is pointed to");
}

/* The pool may go before the memory is forgotten. */
UNIT(freed_memory_of_a_pool)
{
    struct pointee freed;
    start_node();
    struct pool *pool = pool_new(&process->memory, 0);
    uint64_t address = pool ? memory_take_pool(&process->memory, pool, 4096, 0) : 0;
    EXPECT(address && memory_find(address, &freed) && freed.pool == pool, "no memory of the pool");
    EXPECT(memory_give(&process->memory, address) && bounds_freed(address, &freed),
           "it is not remembered");
    EXPECT(!freed.pool, "it points to its pool");
}

UNIT(failed_allocations_are_not_counted)
{
    static struct connection c;
    start_node();
    c.process = process;
    const struct {
        void (*ask)(struct connection *);
        uint32_t op;
        uint64_t bytes, how;
    } calls[] = {{request_malloc, VGPU_OP_MALLOC, 1ull << 50, 0},
                 {request_host_alloc, VGPU_OP_HOST_ALLOC, 1ull << 50, VGPU_HOST_PINNED},
                 {request_host_alloc, VGPU_OP_HOST_ALLOC, 1ull << 50, VGPU_HOST_MANAGED},
                 {request_host_alloc, VGPU_OP_HOST_ALLOC, 1ull << 50, VGPU_HOST_REGISTERED}};
    uint64_t version = process->memory.map_version;
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        c.request.q = (struct vgpu_request){
            .op = calls[i].op, .bytes = calls[i].bytes, .value = calls[i].how};
        c.reply.r.error = 0;
        calls[i].ask(&c);
        EXPECT(c.reply.r.error == VGPU_OUT_OF_MEMORY, "call %u answers %d", i, c.reply.r.error);
    }
    EXPECT(node_counts.mallocs == 0 && node_counts.host_allocs == 0,
           "%u and %u failed allocations were counted", node_counts.mallocs,
           node_counts.host_allocs);
    EXPECT(process->memory.map_version == version, "contexts have to map something");
    c.request.q = (struct vgpu_request){.op = VGPU_OP_HOST_ALLOC, .bytes = 64};
    c.reply.r.error = 0;
    request_host_alloc(&c);
    EXPECT(!c.reply.r.error && node_counts.host_allocs == 1, "one that did not fail");
}

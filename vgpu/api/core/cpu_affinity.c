/* SPDX-License-Identifier: MIT
 * cpu_affinity.c: moves a thread that waits for the node to the node's CPU. The round trip is then
 * a context switch on one CPU (some 5 us) instead of a wake-up of another one (some 70 us on small
 * machines).
 *
 * The thread's mask is read and restored each time, since the program may change it between calls.
 * If these system calls fail (in a sandbox, or in a cpuset without that CPU), pinning is switched
 * off for the rest of the process.
 */
#include "core.h"

#include <sched.h>
#include <string.h>

_Static_assert(sizeof(((struct vgpu__affinity *)0)->mask) == sizeof(cpu_set_t),
               "mask is a cpu_set_t");

static atomic_bool pinning_off;

void vgpu__affinity_to_node(struct vgpu__affinity *own)
{
    own->pinned = false;
    int cpu = vgpu__process.node_cpu;
    if (cpu < 0 || cpu >= CPU_SETSIZE || atomic_load_explicit(&pinning_off, memory_order_relaxed))
        return;
    cpu_set_t node;
    CPU_ZERO(&node);
    CPU_SET((size_t)cpu, &node);
    if (sched_getaffinity(0, sizeof own->mask, (cpu_set_t *)own->mask) != 0 ||
        sched_setaffinity(0, sizeof node, &node) != 0) {
        atomic_store(&pinning_off, true);
        return;
    }
    own->pinned = true;
}

/* The mask is set and restored at once: the thread stays where it then is until something moves it.
 */
bool vgpu__affinity_leave_node(void)
{
    cpu_set_t own, others;
    if (atomic_load_explicit(&pinning_off, memory_order_relaxed) ||
        sched_getaffinity(0, sizeof own, &own) != 0)
        return false;
    others = own;
    CPU_CLR((size_t)vgpu__process.node_cpu, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0)
        return false;
    sched_setaffinity(0, sizeof own, &own);
    return true;
}

bool vgpu__is_near_node(void)
{
    int cpu = vgpu__process.node_cpu;
    return cpu >= 0 && sched_getcpu() == cpu;
}

void vgpu__affinity_restore(const struct vgpu__affinity *own)
{
    if (own->pinned)
        sched_setaffinity(0, sizeof own->mask, (const cpu_set_t *)own->mask);
}

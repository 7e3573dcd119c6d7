/* SPDX-License-Identifier: MIT
 * machine.c: see machine.h.
 */
#include "machine.h"

static const struct topology *machine;

void machine_start(const struct topology *topology)
{
    machine = topology;
}

const struct topology *machine_topology(void)
{
    return machine;
}

const struct vgpu_node_info *machine_info(void)
{
    return &machine->info;
}

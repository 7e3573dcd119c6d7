/* SPDX-License-Identifier: MIT
 * machine.h: the machine that this node is: its description, once it was read.
 */
#ifndef VGPU_MACHINE_H
#define VGPU_MACHINE_H

#include "topology.h"

/* Once, before anything asks. What it points to stays the caller's, and as it is. */
void machine_start(const struct topology *topology);

const struct topology *machine_topology(void);
const struct vgpu_node_info *machine_info(void);

#endif

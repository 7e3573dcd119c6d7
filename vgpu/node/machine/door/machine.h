/* SPDX-License-Identifier: MIT
 * machine.h: the machine that this node simulates, as read from its description.
 */
#ifndef VGPU_MACHINE_H
#define VGPU_MACHINE_H

#include "topology.h"

/* Call it once, before the functions below. The topology remains the caller's and must not change.
 */
void machine_start(const struct topology *topology);

const struct topology *machine_topology(void);
const struct vgpu_node_info *machine_info(void);

#endif

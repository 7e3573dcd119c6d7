/* SPDX-License-Identifier: MIT
 * machine.h: the machine that this node simulates, as read from its description.
 */
#ifndef VGPU_MACHINE_H
#define VGPU_MACHINE_H

#include "topology.h"

/* Set once, before all other rooms start (node.c); main.c owns it, and it does not change. */
extern const struct topology *machine;

#endif

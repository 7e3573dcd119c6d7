/* SPDX-License-Identifier: MIT
 * sweep.h: accesses of a loop that are counted and checked together.
 */
#ifndef VGPU_EXEC_SWEEP_H
#define VGPU_EXEC_SWEEP_H

#include <stdbool.h>

/* For the run that begins; false: a callback reports each access. */
void sweeps_allow(bool allowed);

#endif

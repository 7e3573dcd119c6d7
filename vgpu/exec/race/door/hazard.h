/* SPDX-License-Identifier: MIT
 * hazard.h: findings of the detectors in kernels, for the node to describe.
 */
#ifndef VGPU_HAZARD_H
#define VGPU_HAZARD_H

#include "check.h"
#include "exec.h"

struct hazard_side { /* one access */
    uint64_t pc;
    uint64_t block;
    uint32_t thread; /* indices of the thread in its block and of the block in the grid */
    bool write;
    bool others; /* `thread` is not the one that made the access: it was another one, which is not
                    known */
    int mode;    /* enum vgpu_access_mode */
};

struct hazard {
    enum vgpu_diagnosis diagnosis;
    uint64_t address, bytes;
    uint32_t width; /* of two findings about the same lines, the wider is reported */
    struct hazard_side first, second; /* first.pc is 0: there is only one access */
};

/* Whether the same two places in the code were reported for the same mistake already. */
bool hazard_is_told(const struct hazard *hazard);

/* Adds a finding to the running kernel's reply, once for each pair of places. */
void hazard_note(const struct hazard *hazard);

/* Moves the findings into `reply`. */
void hazard_reply(struct run *run, struct vgpu_exec_reply *reply);

#endif

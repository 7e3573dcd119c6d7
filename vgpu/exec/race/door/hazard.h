/* SPDX-License-Identifier: MIT
 * hazard.h: what the detectors of a kernel have found, for the node to put into words.
 */
#ifndef VGPU_HAZARD_H
#define VGPU_HAZARD_H

#include "check.h"
#include "exec.h"

struct hazard_side { /* one access */
    uint64_t pc;
    uint64_t block;
    uint32_t thread; /* numbers, in the grid and the block */
    bool write;
    bool others; /* it was another thread than this one, which one is not known */
    int mode;    /* enum vgpu_access_mode */
};

struct hazard {
    enum vgpu_diagnosis diagnosis;
    uint64_t address, bytes;
    uint32_t width;                   /* of two about the same lines, the wider is told */
    struct hazard_side first, second; /* first.pc is 0: there is only one */
};

/* The same places in the code were told as the same mistake. */
bool hazard_is_told(const struct hazard *hazard);

/* Notes it in the running kernel's reply, once for each pair of places. */
void hazard_note(const struct hazard *hazard);

/* Moves what was noted into `reply`. */
void hazard_reply(struct run *run, struct vgpu_exec_reply *reply);

#endif

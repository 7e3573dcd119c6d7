/* SPDX-License-Identifier: MIT
 * counters.h: counters of the accesses of device code.
 *
 * A callback computes the window by one shift and adds 1 to one counter; bytes are computed when
 * the run ends. Unusual accesses (an address outside of all windows, a misaligned one, a lap of
 * polling.c) are beyond access_limit or have low bits set, and take the slow path.
 */
#ifndef VGPU_EXEC_COUNTERS_H
#define VGPU_EXEC_COUNTERS_H

#include "exec.h"

/* Counters: accesses of 1, 2, 4, 8, 16 bytes; ranges; bytes of ranges. Reads, then writes. */
enum {
    ACCESS_1,
    ACCESS_2,
    ACCESS_4,
    ACCESS_8,
    ACCESS_16,
    ACCESS_RANGE,
    ACCESS_BYTES,
    ACCESS_KINDS
};

extern const uint8_t access_kind_bytes[ACCESS_KINDS];
extern uint64_t access_count[2][ACCESS_KINDS][WINDOW_COUNT];
extern uint64_t access_limit; /* windows from here on take the slow path */
extern uint64_t access_wide;  /* a 16-byte access that was only 8-byte aligned */
extern uint64_t access_pc;    /* the call in device code of a builtin that reads or writes */

/* Reasons to observe all accesses. */
extern struct access_watchers {
    bool lap;          /* a lap of a polling thread */
    bool sample;       /* sectors and banks */
    bool look;         /* detectors in kernels */
    bool weak;         /* VGPU_SCHEDULE=weak */
    bool only_looking; /* no reason but the detectors and footprint.c */
} access_watchers;

/* Sends all accesses through the slow path for one of these reasons, or ends that. */
void access_watch(bool on);
void access_sample(bool on);
void access_look(bool on);
void access_weaken(bool on);
void access_footprint(bool on);

/* Moves the counters into `counts` and sets them to zero. */
void access_harvest(struct vgpu_run_counts *counts);

/* Number of all accesses since then. */
uint64_t access_total(void);

#endif

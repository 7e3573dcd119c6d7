/* SPDX-License-Identifier: MIT
 * counters.h: the counters that every access of device code adds to.
 *
 * A callback finds its window by one shift and adds 1 to one counter; bytes are worked out when
 * the run ends. Whatever is unusual (an address of no window, a misaligned one, a lap of polling.c)
 * is beyond access_limit or has low bits, and takes the slow way.
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
extern uint64_t access_limit; /* windows from here on take the slow way */
extern uint64_t access_wide;  /* a 16-byte access that was only 8-byte aligned */
extern uint64_t access_pc;    /* where device code called what reads or writes for it */

/* Who wants to see all accesses. */
extern struct access_watchers {
    bool lap;          /* the lap of a thread that polls */
    bool sample;       /* sectors and banks */
    bool look;         /* the detectors of a kernel */
    bool only_looking; /* at most the detectors and footprint.c */
} access_watchers;

/* From here on all accesses take the slow way, for one of them; or no longer. */
void access_watch(bool on);
void access_sample(bool on);
void access_look(bool on);
void access_footprint(bool on);

/* Moves the counters into `counts` and sets them to zero. */
void access_harvest(struct vgpu_run_counts *counts);

/* All accesses since then, by anybody. */
uint64_t access_total(void);

#endif

/* SPDX-License-Identifier: MIT
 * access.h: the counters that every access of device code adds to.
 *
 * A callback finds its window by one shift and adds 1 to one counter; bytes are worked out when
 * the run ends. Whatever is unusual (an address of no window, a misaligned one, a lap of poll.c)
 * is beyond access_limit or has low bits, and takes the slow way.
 */
#ifndef VGPU_ACCESS_H
#define VGPU_ACCESS_H

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

extern uint64_t access_count[2][ACCESS_KINDS][WINDOW_COUNT];
extern uint64_t access_limit; /* windows from here on take the slow way */
extern bool access_lap;       /* poll.c wants to see all accesses */
extern uint64_t access_wide;  /* a 16-byte access that was only 8-byte aligned */
extern uint64_t access_pc;    /* where device code called what reads or writes for it */

/* bounds.c: which bytes are allocated, in tables that the node keeps (struct vgpu_control). The
 * first one lies at a fixed address, which saves every access a load. */
#define BOUNDS_PARTIAL_VA 0x20000000ull
extern const uint16_t *bounds_tail;
/* Maps the first table and finds the second. False: not possible. */
bool bounds_attach(int control_fd);
static inline bool bounds_partial(uint64_t address)
{
    const uint8_t *table = (const uint8_t *)BOUNDS_PARTIAL_VA; /* NOLINT */
    return table[(address - VGPU_ARENA_VA) / VGPU_CHUNK_BYTES];
}
static inline uint64_t bounds_granule(uint64_t address)
{
    return bounds_tail[(address - VGPU_ARENA_VA) / VGPU_GRANULE_BYTES];
}
/* Notes [address, +bytes), of device memory, if not all of it is allocated. */
void bounds_check(uint64_t address, uint64_t bytes, bool write, uint64_t pc);
/* Notes an access that is not: a finding, or a fault where the run is strict. */
void bounds_stray(uint64_t address, uint64_t bytes, bool write, uint64_t pc);
/* Adds what a helper noted. */
void bounds_merge(struct run *run, const struct vgpu_stray *stray, uint32_t count);

static inline uint64_t window_of(uint64_t address)
{
    return (address - VGPU_ARENA_VA) >> 40;
}

/* From here on all accesses take the slow way, for poll.c, for sample.c; or no longer. */
void access_watch(bool on);
void access_sample(bool on);
void access_look(bool on);      /* for race.c */
void access_footprint(bool on); /* for footprint.c */

/* Moves the counters into `counts` and sets them to zero. */
void access_harvest(struct vgpu_run_counts *counts);

/* All accesses since then, by anybody. */
uint64_t access_total(void);

/* Checks and counts an atomic access of `bytes`, called at `pc`; scope as vgpu_atomic's. */
void access_atomic(void *p, uint32_t bytes, bool read, bool write, uint64_t pc, int scope);

#endif

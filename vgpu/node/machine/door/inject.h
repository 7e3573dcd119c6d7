/* SPDX-License-Identifier: MIT
 * inject.h: what breaks on purpose. VGPU_FAULT holds words with commas between:
 *
 *     alloc:3              the third allocation (device, pool, VMM, pinned) fails
 *     event:2              the second event is not made
 *     peer-drop:0-1        what GPU 0 stores to GPU 1's memory, and what is copied there over peer
 *                          access, does not arrive
 *     peer-tear:0-1        of what kernels of GPU 0 store to GPU 1's memory the first 64 of each
 *                          512 bytes arrive
 *     link:0-1=0.1         whatever goes from GPU 0 to GPU 1, or back, has a tenth of its rate
 *     copy-delay:0-1=50    copies from GPU 0 to GPU 1, or back, start 50 us later
 *     gpu-lost:2@op=10     GPU 2 falls off the bus when its tenth operation is to be carried out
 *     granule:1=4          GPU 1's granularity (cuMemGetAllocationGranularity) is 4 MiB, not 2; a
 *                          power of two up to 1024
 *     clock:1=0.1          GPU 1's processors run at a tenth of their clock; its memory does not
 *
 * It counts for the program that starts the node.
 */
#ifndef VGPU_INJECT_H
#define VGPU_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads VGPU_FAULT for a node of `gpus`. False: it is wrong; which word and why in `error`. */
bool inject_start(int gpus, char *error, size_t room);

/* Another allocation: true if it is the one that fails. */
bool inject_no_memory(void);

/* Another event is to be made: true if it is the one that is not. */
bool inject_no_event(void);

/* Copies between two GPUs. */
bool inject_drops(int from, int to);
bool inject_tears(int from, int to);  /* stores of kernels only */
double inject_rate(int from, int to); /* a factor */
uint64_t inject_delay_ps(int from, int to);

/* Another operation of `gpu` is to be carried out: true if the GPU is gone. */
bool inject_lost(int gpu);

/* A factor of what the clock of `gpu` is. */
double inject_clock(int gpu);

/* Bytes that allocations of `gpu`, and mappings that it has access to, are multiples of. */
uint64_t inject_granule(int gpu);

#endif

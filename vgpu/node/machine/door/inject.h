/* SPDX-License-Identifier: MIT
 * inject.h: injected faults. VGPU_FAULT contains words separated by commas:
 *
 *     alloc:3              the third allocation (device, pool, VMM, pinned) fails
 *     event:2              the creation of the second event fails
 *     call:cudaMemcpyAsync=2
 *                          the second call of that name fails and does nothing; in place of a name
 *                          a kind: launch, copy, record (of an event), wait (of a stream for an
 *                          event), sync (of the host)
 *     process-dies:2@call=10
 *                          the second program that connects is killed at its tenth call
 *     peer-drop:0-1        stores and peer copies of GPU 0 to memory of GPU 1 are lost
 *     peer-tear:0-1        of what kernels of GPU 0 store to memory of GPU 1, only the first 64 of
 *                          each 512 bytes arrive
 *     peer-clip:0-1        of what kernels of GPU 0 store to an allocation of GPU 1, the first 4
 *                          bytes are lost
 *     link:0-1=0.1         transfers between GPU 0 and GPU 1 have a tenth of their rate
 *     link-damage:0-1=2    of the second copy from GPU 0 to GPU 1 one bit in the middle arrives
 *                          wrong
 *     copy-delay:0-1=50    copies between GPU 0 and GPU 1 start 50 us later
 *     gpu-lost:2@op=10     GPU 2 fails when its tenth operation is to be carried out
 *     granule:1=4          GPU 1's granularity (cuMemGetAllocationGranularity) is 4 MiB, not 2; a
 *                          power of two up to 1024
 *     clock:1=0.1          GPU 1's processors run at a tenth of their clock; its memory does not
 *     stale:1              memory of GPU 1 that is allocated anew, up to 1 MiB at a time, holds
 * what was there before, as on hardware, in place of a pattern
 *
 * The variable of the program that starts the node applies.
 */
#ifndef VGPU_INJECT_H
#define VGPU_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads VGPU_FAULT for a node with `gpus` GPUs. False: it is invalid; the word and the reason are
 * in `error`. */
bool inject_start(int gpus, char *error, size_t room);

/* VGPU_FAULT names a fault. Without one, no function below has an effect, so what every operation
 * passes need not call them. */
extern bool inject_wanted;

/* Called for each allocation: true if this one fails. */
bool inject_no_memory(void);

/* Called for each event that is made: true if this one fails. */
bool inject_no_event(void);

/* Called for each request (VGPU_OP_...) of a program, with the name of the call that sends it: true
 * if this one fails. */
bool inject_fails(const char *call, uint32_t op);

/* Called for each call of the program that was the `process`-th to connect: true if it is to be
 * killed. */
bool inject_dies(int process);

/* Called for each copy from one GPU to another: true if it arrives damaged. */
bool inject_damages(int from, int to);

/* True if memory that is allocated anew keeps its contents. */
bool inject_stale(int gpu);

/* Faults of transfers between two GPUs. */
bool inject_drops(int from, int to);
bool inject_tears(int from, int to);  /* stores of kernels only */
bool inject_clips(int from, int to);  /* the same */
double inject_rate(int from, int to); /* factor of the rate */
uint64_t inject_delay_ps(int from, int to);

/* Called for each operation of `gpu` that is to be carried out: true if the GPU has failed. */
bool inject_lost(int gpu);

/* The factor of the clock rate of `gpu`. */
double inject_clock(int gpu);

/* Granularity in bytes of allocations of `gpu`, and of mappings that it has access to. */
uint64_t inject_granule(int gpu);

#endif

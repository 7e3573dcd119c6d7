/* SPDX-License-Identifier: MIT
 * lab_clock.h: virtual time for a lab's own communication between processes. A message carries its
 * sender's time, so that the receiver's clock is never behind the time at which it was sent.
 */
#ifndef LAB_CLOCK_H
#define LAB_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The calling thread's virtual time, to be sent with a message. 0 on real GPUs. */
uint64_t lab_clock_tell(void);

/* On receipt of a message that was sent at virtual time `told`: advances the calling thread's clock
 * to at least that time. */
void lab_clock_hear(uint64_t told);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT
 * lab_clock.h: for what comes with a lab and makes processes wait for each other. Whoever waited
 * goes on no earlier than whom it waited for: the clock travels with the message.
 */
#ifndef LAB_CLOCK_H
#define LAB_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the calling thread's clock says, to be sent along. 0 where time passes by itself. */
uint64_t lab_clock_tell(void);

/* Another one's clock said `told` when it sent its message: the calling thread's says no less. */
void lab_clock_hear(uint64_t told);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT
 * clock.c: see lab_clock.h. Empty functions on real GPUs.
 */
#include "lab_clock.h"

#if __has_include(<vgpu_time.h>)
#include <vgpu_time.h>

uint64_t lab_clock_tell(void)
{
    return vgpu_time_tell();
}

void lab_clock_hear(uint64_t told)
{
    vgpu_time_hear(told);
}

#else

uint64_t lab_clock_tell(void)
{
    return 0;
}

void lab_clock_hear(uint64_t told)
{
    (void)told;
}

#endif

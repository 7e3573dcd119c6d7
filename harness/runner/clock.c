/* SPDX-License-Identifier: MIT
 * clock.c: see lab_clock.h (empty functions on real GPUs) and lab_seconds, lab_timed_rounds of
 * runner.h.
 */
#include "lab_clock.h"
#include "runner.h"

#include <time.h>

double lab_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#if __has_include(<vgpu_time.h>)
#include <vgpu_time.h>

int lab_timed_rounds(void)
{
    return 1;
}

uint64_t lab_clock_tell(void)
{
    return vgpu_time_tell();
}

void lab_clock_hear(uint64_t told)
{
    vgpu_time_hear(told);
}

#else

int lab_timed_rounds(void)
{
    return 2;
}

uint64_t lab_clock_tell(void)
{
    return 0;
}

void lab_clock_hear(uint64_t told)
{
    (void)told;
}

#endif

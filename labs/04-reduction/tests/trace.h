/* SPDX-License-Identifier: MIT
 * trace.h: what lab 04's tests read out of the list of everything the GPUs did.
 */
#ifndef LAB04_TRACE_H
#define LAB04_TRACE_H

#include "witness.h"

/* Start and end of what one GPU computed. */
static inline void busy(const struct lab_witness *w, int gpu, double *start_us, double *end_us)
{
    *start_us = -1;
    *end_us = -1;
    for (unsigned i = 0; i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        if (r->kind != LAB_KERNEL || r->gpu != gpu)
            continue;
        if (*start_us < 0)
            *start_us = (double)r->start_ps / 1e6;
        *end_us = (double)r->end_ps / 1e6;
    }
}

/* The longest kernel of a GPU, in ms. */
static inline double longest(const struct lab_witness *w, int gpu)
{
    double ms = 0;
    for (unsigned i = 0; i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        if (r->kind == LAB_KERNEL && r->gpu == gpu && (double)(r->end_ps - r->start_ps) / 1e9 > ms)
            ms = (double)(r->end_ps - r->start_ps) / 1e9;
    }
    return ms;
}

#endif

/* SPDX-License-Identifier: MIT
 * failure.h: describes what a program had requested of a node that failed.
 */
#ifndef LAB_FAILURE_H
#define LAB_FAILURE_H

#include <stddef.h>

#include "node_usage.h"

/* Describes the most likely cause of a node's failure: first requests that no program makes through
 * the runtime, then an unusual number of requests. */
void lab__tell_usage(const struct vgpu_usage_page *page, char *text, size_t room);

#endif

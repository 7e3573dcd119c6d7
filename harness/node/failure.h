/* SPDX-License-Identifier: MIT
 * failure.h: what a program had asked of a node that failed, in words.
 */
#ifndef LAB_FAILURE_H
#define LAB_FAILURE_H

#include <stddef.h>

#include "node_usage.h"

/* The one thing that tells most of why a node could fail: what no program that uses the runtime
 * does comes first, then much work. */
void lab__tell_usage(const struct vgpu_usage_page *page, char *text, size_t room);

#endif

/* SPDX-License-Identifier: MIT
 * helper_filter.h: a filter of system calls for the helper process of a jailed node.
 */
#ifndef VGPU_HELPER_FILTER_H
#define VGPU_HELPER_FILTER_H

#include <stdbool.h>

/* Applies the filter to this process and all processes that it starts. False, with errno: failed.
 */
bool helper_filter_close(void);

#endif

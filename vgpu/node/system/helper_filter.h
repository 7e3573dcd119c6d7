/* SPDX-License-Identifier: MIT
 * helper_filter.h: the system calls that the process beside a jailed node does without.
 */
#ifndef VGPU_HELPER_FILTER_H
#define VGPU_HELPER_FILTER_H

#include <stdbool.h>

/* From now on, for this process and all that it starts. False: errno says why not. */
bool helper_filter_close(void);

#endif

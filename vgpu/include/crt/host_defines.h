/* SPDX-License-Identifier: MIT
 * crt/host_defines.h: host_defines.h by the name under which CUDA keeps it.
 */
#ifndef VGPU_CRT_HOST_DEFINES_H
#define VGPU_CRT_HOST_DEFINES_H

#include "../host_defines.h"

#endif

/* SPDX-License-Identifier: MIT
 * crt/device_functions.h: device_functions.h by the name under which CUDA keeps it.
 */
#ifndef VGPU_CRT_DEVICE_FUNCTIONS_H
#define VGPU_CRT_DEVICE_FUNCTIONS_H

#include "../device_functions.h"

#endif

/* SPDX-License-Identifier: MIT
 * crt/host_config.h: host_config.h by the name under which CUDA keeps it.
 */
#ifndef VGPU_CRT_HOST_CONFIG_H
#define VGPU_CRT_HOST_CONFIG_H

#include "../host_config.h"

#endif

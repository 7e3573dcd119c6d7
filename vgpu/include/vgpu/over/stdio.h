/* SPDX-License-Identifier: MIT
 * stdio.h: the C library's, and printf for device code: as with nvcc, no other header brings it.
 */
#pragma GCC system_header
#include_next <stdio.h>
#ifndef VGPU_DEVICE_PRINTF
#define VGPU_DEVICE_PRINTF
extern "C" __device__ int printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
#endif

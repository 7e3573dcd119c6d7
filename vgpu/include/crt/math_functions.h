/* SPDX-License-Identifier: MIT
 * crt/math_functions.h: math_functions.h by the name under which CUDA keeps it.
 */
#ifndef VGPU_CRT_MATH_FUNCTIONS_H
#define VGPU_CRT_MATH_FUNCTIONS_H

#include "../math_functions.h"

#endif

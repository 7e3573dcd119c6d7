/* SPDX-License-Identifier: MIT
 * divide.h: integer divisions that trap on this processor and not on a GPU.
 */
#ifndef VGPU_EXEC_DIVIDE_H
#define VGPU_EXEC_DIVIDE_H

#include <stdbool.h>
#include <ucontext.h>

/* Carries out the division that has just trapped, as a GPU does (by zero: all ones, and the
 * dividend as remainder; the lowest number by -1: itself and 0), and steps over it. False if the
 * machine does not stand at a division. *by_zero: which of the two it was. */
bool divide_step(ucontext_t *machine, bool *by_zero);

#endif

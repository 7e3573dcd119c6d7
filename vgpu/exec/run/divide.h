/* SPDX-License-Identifier: MIT
 * divide.h: integer divisions that trap on this processor but not on a GPU.
 */
#ifndef VGPU_EXEC_DIVIDE_H
#define VGPU_EXEC_DIVIDE_H

#include <stdbool.h>
#include <ucontext.h>

/* Performs the division that has just trapped, with a GPU's result (by zero: all ones, and the
 * dividend as remainder; the lowest number by -1: itself and 0), and steps over it. False if the
 * instruction is no division. *by_zero: which of the two it was. */
bool divide_step(ucontext_t *machine, bool *by_zero);

#endif

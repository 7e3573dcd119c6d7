/* SPDX-License-Identifier: MIT
 * access.h: accesses that builtins make for device code.
 */
#ifndef VGPU_EXEC_ACCESS_H
#define VGPU_EXEC_ACCESS_H

#include "exec.h"

#include <stddef.h>

/* Checks and counts an atomic access of `bytes`, called at `pc`; scope as vgpu_atomic's. */
void access_atomic(void *p, uint32_t bytes, bool read, bool write, uint64_t pc, int scope);

/* Checks and counts a load of 1, 2, 4, 8 or 16 bytes, called at `pc`. */
void access_load(const void *p, uint32_t bytes, uint64_t pc);

/* memcpy of device code, with both sides checked and counted. */
void *__wrap_memcpy(void *to, const void *from, size_t bytes);

#endif

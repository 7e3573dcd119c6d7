/* SPDX-License-Identifier: MIT
 * context_module.h: device images in a context's process.
 */
#ifndef VGPU_CONTEXT_MODULE_H
#define VGPU_CONTEXT_MODULE_H

#include <stdint.h>

struct context;
struct process;

/* Loads a module of the process, finds out where its variables are, and maps device memory there.
 * Returns 0, or -1 with the reason in `error`. */
int context_load_module(struct context *c, struct process *process, uint32_t module, char *error,
                        int room);

#endif

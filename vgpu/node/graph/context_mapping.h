/* SPDX-License-Identifier: MIT
 * context_mapping.h: the memory mappings of a context's process.
 */
#ifndef VGPU_CONTEXT_MAPPING_H
#define VGPU_CONTEXT_MAPPING_H

struct context;
struct process;

/* Makes the context's mappings equal to what the process may access from its device. Returns 0, or
 * -1 with the reason in `error`: then the mappings are unknown, and the caller must end the
 * context. */
int context_remap(struct context *c, struct process *process, char *error, int room);

#endif

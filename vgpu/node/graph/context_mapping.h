/* SPDX-License-Identifier: MIT
 * context_mapping.h: what a context's process maps.
 */
#ifndef VGPU_CONTEXT_MAPPING_H
#define VGPU_CONTEXT_MAPPING_H

struct context;
struct process;

/* Makes the mappings of the context equal what the process may touch from that device now. 0, or -1
 * with a sentence in `error`: then it is not known what is mapped, and the caller ends the context.
 */
int context_remap(struct context *c, struct process *process, char *error, int room);

#endif

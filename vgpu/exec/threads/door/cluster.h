/* SPDX-License-Identifier: MIT
 * cluster.h: thread block clusters.
 */
#ifndef VGPU_EXEC_CLUSTER_H
#define VGPU_EXEC_CLUSTER_H

#include "exec.h"

/* A cluster without blocks; they join in the order of their ranks. The last one to end frees it. */
struct cluster *cluster_make(void);
void cluster_join(struct cluster *cluster, struct block *block);
void cluster_block_ends(struct block *block);

/* A thread has left the kernel: from then on it counts as arrived. */
void cluster_left(struct thread *thread);

/* Whether the polling thread waits at its cluster's barrier. */
bool cluster_awaited(const struct thread *thread);

#endif

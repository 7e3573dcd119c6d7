/* SPDX-License-Identifier: MIT
 * cluster.c: thread block clusters: their barrier, and where a block's shared memory is for the
 * others.
 *
 * The blocks of a cluster start together (run/block.c) and run in one process, so the shared memory
 * of each has an address that all can use, until its block ends.
 */
#include "cluster.h"

#include "counters.h"
#include "fault.h"
#include "polling.h"
#include "race.h"
#include "shared_memory.h"
#include "weak.h"

#include <stdlib.h>

#define CALLER ((uint64_t)__builtin_return_address(0) - 1)

struct cluster *cluster_make(void)
{
    struct cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        fault_raise(VGPU_FAULT_INTERNAL, 0, false, 0, "no memory for a cluster of blocks");
    return cluster;
}

void cluster_join(struct cluster *cluster, struct block *block)
{
    block->cluster = cluster;
    cluster->member[cluster->blocks++] = block;
    cluster->live += block->live;
    cluster->missing = cluster->live;
}

static uint32_t rank_of(const struct block *block)
{
    uint32_t rank = 0;
    while (block->cluster->member[rank] != block)
        rank++;
    return rank;
}

void cluster_block_ends(struct block *block)
{
    struct cluster *cluster = block->cluster;
    cluster->member[rank_of(block)] = NULL;
    block->cluster = NULL;
    if (--cluster->blocks == 0)
        free(cluster);
}

/* ---- the barrier ---- */

static void count_arrival(struct cluster *cluster)
{
    if (--cluster->missing > 0)
        return;
    cluster->missing = cluster->live;
    cluster->phase++;
    race_cluster_synced(cluster);
    weak_cluster_meets(cluster);
    now.run->counts.barriers++;
    now.run->events++;
    progress();
}

void cluster_left(struct thread *thread)
{
    struct cluster *cluster = thread->block->cluster;
    bool arrived = thread->arrived == cluster->phase + 1;
    thread->arrived = 0;
    cluster->live--;
    if (!arrived)
        count_arrival(cluster);
}

bool cluster_awaited(const struct thread *thread)
{
    const struct cluster *cluster = thread->block->cluster;
    return cluster && thread->poll.address == (uint64_t)&cluster->phase;
}

/* A block that was launched without a cluster is one of its own. */
static struct cluster *own_cluster(void)
{
    if (!now.block->cluster)
        cluster_join(cluster_make(), now.block);
    return now.block->cluster;
}

OFFERED void vgpu_cluster_arrive(void)
{
    struct cluster *cluster = own_cluster();
    if (now.thread->arrived)
        fault_raise(VGPU_FAULT_BARRIER, 0, false, CALLER,
                    "a thread arrived twice at its cluster's barrier without a wait between");
    now.thread->arrived = cluster->phase + 1;
    count_arrival(cluster);
}

/* Waits by polling, as at the grid's barrier. */
OFFERED void vgpu_cluster_wait(const char *site)
{
    struct cluster *cluster = own_cluster();
    uint32_t phase = now.thread->arrived - 1;
    now.thread->site = site;
    if (!now.thread->arrived)
        fault_raise(VGPU_FAULT_BARRIER, 0, false, CALLER,
                    "a thread waits at its cluster's barrier without having arrived");
    access_pc = CALLER;
    while (cluster->phase == phase)
        poll_note((uint64_t)&cluster->phase, phase, sizeof cluster->phase);
    now.thread->arrived = 0;
}

/* ---- who is in it ---- */

OFFERED uint32_t vgpu_cluster_dim(int axis)
{
    struct vgpu_dim3 c = now.run->cluster;
    return axis == 0 ? c.x : axis == 1 ? c.y : c.z;
}

OFFERED void *vgpu_cluster_map(const void *address, uint32_t rank)
{
    const struct cluster *cluster = own_cluster();
    if (rank >= now.run->cluster_blocks)
        fault_raise(VGPU_FAULT_TRAP, (uint64_t)address, false, CALLER,
                    "shared memory of block %u of a cluster that has %u blocks", rank,
                    now.run->cluster_blocks);
    if (!cluster->member[rank])
        fault_raise(VGPU_FAULT_TRAP, (uint64_t)address, false, CALLER,
                    "shared memory of block %u of the cluster, which has ended: let all of its "
                    "blocks meet after the last such access",
                    rank);
    void *there = shared_counterpart(now.block, (uint64_t)address, cluster->member[rank]);
    if (!there)
        fault_raise(VGPU_FAULT_TRAP, (uint64_t)address, false, CALLER,
                    "%p is not shared memory of the block: only that has a counterpart in the "
                    "cluster's other blocks",
                    address);
    return there;
}

OFFERED uint32_t vgpu_cluster_rank_of(const void *address)
{
    const struct cluster *cluster = own_cluster();
    uint32_t rank = 0;
    while (rank < now.run->cluster_blocks &&
           !(cluster->member[rank] && shared_is_of(cluster->member[rank], (uint64_t)address)))
        rank++;
    return rank < now.run->cluster_blocks ? rank : UINT32_MAX;
}

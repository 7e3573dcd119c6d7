/* SPDX-License-Identifier: MIT
 * group.c: ncclGroupStart and ncclGroupEnd. Calls in a group are stored for the thread. The end of
 * the group makes the communicators, each in a thread of its own since each waits for the others,
 * and then launches the jobs, communicator by communicator. One error drops the whole group.
 */
#include "comm.h"
#include "own.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct init {
    ncclComm_t *made;
    ncclUniqueId id;
    int ranks, rank, device;
    ncclResult_t result;
};

static _Thread_local struct {
    int depth;
    ncclResult_t result; /* of the first call that failed */
    struct nccl_job *job;
    size_t job_count, job_room;
    struct init *init;
    size_t init_count, init_room;
} group;

/* Makes room for one more element of `size` bytes; false: host memory ran out. */
static bool grow_items(void **items, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return true;
    size_t more = *room ? 2 * *room : 16;
    void *grown = realloc(*items, more * size);
    if (!grown)
        return false;
    *items = grown;
    *room = more;
    return true;
}

ncclResult_t nccl_group_result(ncclResult_t result)
{
    if (group.depth > 0 && group.result == ncclSuccess)
        group.result = result;
    return result;
}

/* ---- communicators ---- */

static void *make_comm_thread(void *argument)
{
    NCCL_OWN_CALLS;
    struct init *init = argument;
    init->result = nccl_make_comm(init->made, init->ranks, &init->id, init->rank, init->device);
    return NULL;
}

static ncclResult_t make_comms(struct init *init, size_t count)
{
    ncclResult_t result = ncclSuccess;
    pthread_t *thread = calloc(count + 1, sizeof *thread);
    bool *started = calloc(count + 1, sizeof *started);
    if (!thread || !started)
        result = nccl_fail(ncclSystemError, "ncclGroupEnd", "no memory");
    for (size_t i = 0; i < count && result == ncclSuccess; i++) {
        started[i] = pthread_create(&thread[i], NULL, make_comm_thread, &init[i]) == 0;
        if (!started[i])
            result = nccl_fail(ncclSystemError, "ncclGroupEnd", "no thread can be started");
    }
    for (size_t i = 0; i < count && started; i++) {
        if (!started[i])
            continue;
        pthread_join(thread[i], NULL);
        if (result == ncclSuccess)
            result = init[i].result;
    }
    free(thread);
    free(started);
    return result;
}

ncclResult_t nccl_issue_init(ncclComm_t *comm, int ranks, const ncclUniqueId *id, int rank,
                             const char *call)
{
    NCCL_OWN_CALLS;
    int device;
    if (!comm || ranks < 1 || rank < 0 || rank >= ranks)
        return nccl_group_result(nccl_fail(ncclInvalidArgument, call, "rank %d of %d%s", rank,
                                           ranks, comm ? "" : ", comm is null"));
    if (ranks > NCCL_MAX_RANKS)
        return nccl_group_result(nccl_fail(ncclInvalidUsage, call,
                                           "%d ranks; the virtual node has at most %d", ranks,
                                           NCCL_MAX_RANKS));
    ncclResult_t result = nccl_cuda(cudaGetDevice(&device), call, "cudaGetDevice");
    if (result != ncclSuccess || group.depth == 0)
        return result != ncclSuccess ? nccl_group_result(result)
                                     : nccl_make_comm(comm, ranks, id, rank, device);
    if (!grow_items((void **)&group.init, &group.init_room, group.init_count, sizeof *group.init))
        return nccl_group_result(nccl_fail(ncclSystemError, call, "no memory"));
    group.init[group.init_count++] =
        (struct init){.made = comm, .id = *id, .ranks = ranks, .rank = rank, .device = device};
    return ncclSuccess;
}

/* ---- work ---- */

/* Launches all jobs with the communicator and stream of the first one. Returns the number of jobs
 * that remain, which are moved to the front. */
static size_t launch_batch(struct nccl_job *job, size_t count, ncclResult_t *result)
{
    struct nccl_job *some = malloc(count * sizeof *some);
    size_t chosen = 0, left = 0;
    if (!some) {
        *result = nccl_fail(ncclSystemError, "ncclGroupEnd", "no memory");
        return 0;
    }
    const struct nccl_job first = job[0];
    for (size_t i = 0; i < count; i++) {
        if (job[i].comm == first.comm && job[i].stream == first.stream)
            some[chosen++] = job[i];
        else
            job[left++] = job[i];
    }
    *result = nccl_launch(some, chosen);
    free(some);
    return left;
}

static ncclResult_t launch_jobs(struct nccl_job *job, size_t count)
{
    ncclResult_t result = ncclSuccess;
    nccl_group_begins();
    while (count > 0 && result == ncclSuccess)
        count = launch_batch(job, count, &result);
    return result;
}

ncclResult_t nccl_issue(const struct nccl_job *job, const char *call)
{
    NCCL_OWN_CALLS;
    if (group.depth == 0) {
        nccl_group_begins();
        return nccl_launch(job, 1);
    }
    if (!grow_items((void **)&group.job, &group.job_room, group.job_count, sizeof *group.job))
        return nccl_group_result(nccl_fail(ncclSystemError, call, "no memory"));
    group.job[group.job_count++] = *job;
    return ncclSuccess;
}

/* ---- the calls ---- */

ncclResult_t ncclGroupStart(void)
{
    group.depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    NCCL_OWN_CALLS;
    int before = 0;
    if (group.depth == 0)
        return nccl_fail(ncclInvalidUsage, "ncclGroupEnd", "there is no ncclGroupStart before it");
    if (--group.depth > 0)
        return ncclSuccess;
    ncclResult_t result = group.result;
    cudaGetDevice(&before);
    if (result == ncclSuccess && group.init_count > 0)
        result = make_comms(group.init, group.init_count);
    if (result == ncclSuccess)
        result = launch_jobs(group.job, group.job_count);
    cudaSetDevice(before);
    free(group.job);
    free(group.init);
    memset(&group, 0, sizeof group);
    return result;
}

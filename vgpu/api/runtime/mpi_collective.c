/* SPDX-License-Identifier: MIT
 * mpi_collective.c: calls of all ranks with buffers in device memory. See mpi.h. A buffer that
 * counts at the root only is not looked at elsewhere; one with a part for each rank is copied from
 * its begin to the end of the last part.
 */
#include "mpi.h"

static int ranks_of(handle comm)
{
    int ranks = 1;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

static int my_rank(handle comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

/* In place of a buffer: MPI_IN_PLACE, which is 1 or a small negative number. */
static bool is_in_place(const void *data)
{
    return (uintptr_t)data + 4096 < 2 * 4096;
}

/* The elements up to the end of the last part. Where the buffer is not device memory the counts
 * may mean nothing. */
static long parts(const void *data, const int *counts, const int *firsts, handle comm)
{
    long all = 0;
    for (int i = 0, ranks = ranks_of(comm); vgpu__mpi_is_device(data) && i < ranks; i++) {
        long end = counts[i] ? (long)counts[i] + (firsts ? firsts[i] : all) : all;
        all = end > all ? end : all;
    }
    return all;
}

/* `call` is not made if a buffer could not be copied. */
#define BETWEEN(call)                                                                              \
    vgpu__mpi_close(&in, vgpu__mpi_close(&out, out.failed || in.failed ? 0 : (call)))

/* ---- the same for all ranks ---- */

LIBRARY int PMPI_Bcast(void *, int, handle, int, handle);
int MPI_Bcast(void *data, int count, handle type, int root, handle comm);
int MPI_Bcast(void *data, int count, handle type, int root, handle comm)
{
    BUFFER(both, data, count, type, IN | OUT);
    return vgpu__mpi_close(&both, both.failed ? 0 : PMPI_Bcast(at_both, count, type, root, comm));
}

LIBRARY int PMPI_Reduce(const void *, void *, int, handle, handle, int, handle);
int MPI_Reduce(const void *data, void *into, int count, handle type, handle op, int root,
               handle comm);
int MPI_Reduce(const void *data, void *into, int count, handle type, handle op, int root,
               handle comm)
{
    BUFFER(out, data, count, type, IN);
    /* in place it is the input, too */
    BUFFER(in, into, my_rank(comm) == root ? count : 0, type, IN | OUT);
    return BETWEEN(PMPI_Reduce(at_out, at_in, count, type, op, root, comm));
}

LIBRARY int PMPI_Allreduce(const void *, void *, int, handle, handle, handle);
int MPI_Allreduce(const void *data, void *into, int count, handle type, handle op, handle comm);
int MPI_Allreduce(const void *data, void *into, int count, handle type, handle op, handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, count, type, IN | OUT);
    int result = out.failed || in.failed ? 0 : PMPI_Allreduce(at_out, at_in, count, type, op, comm);
    return vgpu__mpi_close(&in, vgpu__mpi_close(&out, result));
}

LIBRARY int PMPI_Scan(const void *, void *, int, handle, handle, handle);
int MPI_Scan(const void *data, void *into, int count, handle type, handle op, handle comm);
int MPI_Scan(const void *data, void *into, int count, handle type, handle op, handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, count, type, IN | OUT);
    return BETWEEN(PMPI_Scan(at_out, at_in, count, type, op, comm));
}

LIBRARY int PMPI_Exscan(const void *, void *, int, handle, handle, handle);
int MPI_Exscan(const void *data, void *into, int count, handle type, handle op, handle comm);
int MPI_Exscan(const void *data, void *into, int count, handle type, handle op, handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, count, type, IN | OUT);
    return BETWEEN(PMPI_Exscan(at_out, at_in, count, type, op, comm));
}

/* ---- a part for each rank ---- */

LIBRARY int PMPI_Allgather(const void *, int, handle, void *, int, handle, handle);
int MPI_Allgather(const void *data, int count, handle type, void *into, int room, handle into_type,
                  handle comm);
int MPI_Allgather(const void *data, int count, handle type, void *into, int room, handle into_type,
                  handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, (long)room * ranks_of(comm), into_type, IN | OUT);
    int result = out.failed || in.failed
                     ? 0
                     : PMPI_Allgather(at_out, count, type, at_in, room, into_type, comm);
    return vgpu__mpi_close(&in, vgpu__mpi_close(&out, result));
}

LIBRARY int PMPI_Alltoall(const void *data, int count, handle type, void *into, int room,
                          handle into_type, handle comm);
int MPI_Alltoall(const void *data, int count, handle type, void *into, int room, handle into_type,
                 handle comm);
int MPI_Alltoall(const void *data, int count, handle type, void *into, int room, handle into_type,
                 handle comm)
{
    BUFFER(out, data, (long)count * ranks_of(comm), type, IN);
    BUFFER(in, into, (long)room * ranks_of(comm), into_type, IN | OUT);
    return BETWEEN(PMPI_Alltoall(at_out, count, type, at_in, room, into_type, comm));
}

LIBRARY int PMPI_Gather(const void *data, int count, handle type, void *into, int room,
                        handle into_type, int root, handle comm);
int MPI_Gather(const void *data, int count, handle type, void *into, int room, handle into_type,
               int root, handle comm);
int MPI_Gather(const void *data, int count, handle type, void *into, int room, handle into_type,
               int root, handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, my_rank(comm) == root ? (long)room * ranks_of(comm) : 0, into_type, IN | OUT);
    return BETWEEN(PMPI_Gather(at_out, count, type, at_in, room, into_type, root, comm));
}

LIBRARY int PMPI_Scatter(const void *data, int count, handle type, void *into, int room,
                         handle into_type, int root, handle comm);
int MPI_Scatter(const void *data, int count, handle type, void *into, int room, handle into_type,
                int root, handle comm);
int MPI_Scatter(const void *data, int count, handle type, void *into, int room, handle into_type,
                int root, handle comm)
{
    BUFFER(out, data, my_rank(comm) == root ? (long)count * ranks_of(comm) : 0, type, IN);
    BUFFER(in, into, room, into_type, IN | OUT);
    return BETWEEN(PMPI_Scatter(at_out, count, type, at_in, room, into_type, root, comm));
}

LIBRARY int PMPI_Reduce_scatter_block(const void *data, void *into, int count, handle type,
                                      handle op, handle comm);
int MPI_Reduce_scatter_block(const void *data, void *into, int count, handle type, handle op,
                             handle comm);
int MPI_Reduce_scatter_block(const void *data, void *into, int count, handle type, handle op,
                             handle comm)
{
    BUFFER(out, data, (long)count * ranks_of(comm), type, IN);
    bool in_place = is_in_place(data);
    BUFFER(in, into, in_place ? (long)count * ranks_of(comm) : count, type, IN | OUT);
    return BETWEEN(PMPI_Reduce_scatter_block(at_out, at_in, count, type, op, comm));
}

LIBRARY int PMPI_Reduce_scatter(const void *data, void *into, const int *counts, handle type,
                                handle op, handle comm);
int MPI_Reduce_scatter(const void *data, void *into, const int *counts, handle type, handle op,
                       handle comm);
int MPI_Reduce_scatter(const void *data, void *into, const int *counts, handle type, handle op,
                       handle comm)
{
    BUFFER(out, data, parts(data, counts, NULL, comm), type, IN);
    bool in_place = is_in_place(data);
    BUFFER(in, into, in_place ? parts(into, counts, NULL, comm) : counts[my_rank(comm)], type,
           IN | OUT);
    return BETWEEN(PMPI_Reduce_scatter(at_out, at_in, counts, type, op, comm));
}

/* ---- parts of different lengths ---- */

LIBRARY int PMPI_Allgatherv(const void *data, int count, handle type, void *into, const int *rooms,
                            const int *firsts, handle into_type, handle comm);
int MPI_Allgatherv(const void *data, int count, handle type, void *into, const int *rooms,
                   const int *firsts, handle into_type, handle comm);
int MPI_Allgatherv(const void *data, int count, handle type, void *into, const int *rooms,
                   const int *firsts, handle into_type, handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, parts(into, rooms, firsts, comm), into_type, IN | OUT);
    return BETWEEN(PMPI_Allgatherv(at_out, count, type, at_in, rooms, firsts, into_type, comm));
}

LIBRARY int PMPI_Gatherv(const void *data, int count, handle type, void *into, const int *rooms,
                         const int *firsts, handle into_type, int root, handle comm);
int MPI_Gatherv(const void *data, int count, handle type, void *into, const int *rooms,
                const int *firsts, handle into_type, int root, handle comm);
int MPI_Gatherv(const void *data, int count, handle type, void *into, const int *rooms,
                const int *firsts, handle into_type, int root, handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, my_rank(comm) == root ? parts(into, rooms, firsts, comm) : 0, into_type,
           IN | OUT);
    return BETWEEN(PMPI_Gatherv(at_out, count, type, at_in, rooms, firsts, into_type, root, comm));
}

LIBRARY int PMPI_Scatterv(const void *data, const int *counts, const int *firsts, handle type,
                          void *into, int room, handle into_type, int root, handle comm);
int MPI_Scatterv(const void *data, const int *counts, const int *firsts, handle type, void *into,
                 int room, handle into_type, int root, handle comm);
int MPI_Scatterv(const void *data, const int *counts, const int *firsts, handle type, void *into,
                 int room, handle into_type, int root, handle comm)
{
    BUFFER(out, data, my_rank(comm) == root ? parts(data, counts, firsts, comm) : 0, type, IN);
    BUFFER(in, into, room, into_type, IN | OUT);
    return BETWEEN(PMPI_Scatterv(at_out, counts, firsts, type, at_in, room, into_type, root, comm));
}

LIBRARY int PMPI_Alltoallv(const void *data, const int *counts, const int *firsts, handle type,
                           void *into, const int *rooms, const int *into_firsts, handle into_type,
                           handle comm);
int MPI_Alltoallv(const void *data, const int *counts, const int *firsts, handle type, void *into,
                  const int *rooms, const int *into_firsts, handle into_type, handle comm);
int MPI_Alltoallv(const void *data, const int *counts, const int *firsts, handle type, void *into,
                  const int *rooms, const int *into_firsts, handle into_type, handle comm)
{
    BUFFER(out, data, parts(data, counts, firsts, comm), type, IN);
    BUFFER(in, into, parts(into, rooms, into_firsts, comm), into_type, IN | OUT);
    return BETWEEN(
        PMPI_Alltoallv(at_out, counts, firsts, type, at_in, rooms, into_firsts, into_type, comm));
}

/* SPDX-License-Identifier: MIT
 * mpi_refused.c: calls of MPI that do not take device memory here: they end the program, and name
 * the pointer. See mpi.h.
 */
#include "mpi.h"

#include <stdlib.h>
#include <unistd.h>

static void refuse_device(const char *call, const void *const *addresses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!vgpu__mpi_is_device(addresses[i]))
            continue;
        vgpu__message(call,
                      "the buffer at %p is device memory, which this call does not accept here; "
                      "MPI_Sendrecv and the like, MPI_Isend, MPI_Irecv, MPI_File_iread and the "
                      "like and the collectives that return when they are done do; or use a "
                      "buffer in host memory",
                      addresses[i]);
        _exit(EXIT_FAILURE); /* mpirun ends the other ranks */
    }
}

#define REFUSE(name, parameters, arguments, buffers)                                               \
    LIBRARY int P##name parameters;                                                                \
    int name parameters;                                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        const void *const given[] = {LIST buffers};                                                \
        refuse_device(#name, given, sizeof given / sizeof *given);                                 \
        return P##name arguments;                                                                  \
    }

/* ---- windows ---- */

REFUSE(MPI_Win_create, (void *base, long size, int unit, handle info, handle comm, void *win),
       (base, size, unit, info, comm, win), (base))
REFUSE(MPI_Win_attach, (handle win, void *base, long size), (win, base, size), (base))
REFUSE(MPI_Put,
       (const void *data, int count, handle type, int to, long at, int room, handle to_type,
        handle win),
       (data, count, type, to, at, room, to_type, win), (data))
REFUSE(MPI_Get,
       (void *data, int count, handle type, int to, long at, int room, handle to_type, handle win),
       (data, count, type, to, at, room, to_type, win), (data))
REFUSE(MPI_Rput,
       (const void *data, int count, handle type, int to, long at, int room, handle to_type,
        handle win, void *request),
       (data, count, type, to, at, room, to_type, win, request), (data))
REFUSE(MPI_Rget,
       (void *data, int count, handle type, int to, long at, int room, handle to_type, handle win,
        void *request),
       (data, count, type, to, at, room, to_type, win, request), (data))
REFUSE(MPI_Accumulate,
       (const void *data, int count, handle type, int to, long at, int room, handle to_type,
        handle op, handle win),
       (data, count, type, to, at, room, to_type, op, win), (data))
REFUSE(MPI_Get_accumulate,
       (const void *data, int count, handle type, void *into, int into_count, handle into_type,
        int to, long at, int room, handle to_type, handle op, handle win),
       (data, count, type, into, into_count, into_type, to, at, room, to_type, op, win),
       (data, into))
REFUSE(MPI_Fetch_and_op,
       (const void *data, void *into, handle type, int to, long at, handle op, handle win),
       (data, into, type, to, at, op, win), (data, into))

REFUSE(MPI_Raccumulate,
       (const void *data, int count, handle type, int to, long at, int room, handle to_type,
        handle op, handle win, void *request),
       (data, count, type, to, at, room, to_type, op, win, request), (data))
REFUSE(MPI_Rget_accumulate,
       (const void *data, int count, handle type, void *into, int into_count, handle into_type,
        int to, long at, int room, handle to_type, handle op, handle win, void *request),
       (data, count, type, into, into_count, into_type, to, at, room, to_type, op, win, request),
       (data, into))
REFUSE(MPI_Compare_and_swap,
       (const void *data, const void *compare, void *into, handle type, int to, long at,
        handle win),
       (data, compare, into, type, to, at, win), (data, compare, into))

/* ---- collectives among neighbours, or with a type for each rank ---- */

REFUSE(MPI_Neighbor_allgather,
       (const void *data, int count, handle type, void *into, int room, handle into_type,
        handle comm),
       (data, count, type, into, room, into_type, comm), (data, into))
REFUSE(MPI_Neighbor_alltoall,
       (const void *data, int count, handle type, void *into, int room, handle into_type,
        handle comm),
       (data, count, type, into, room, into_type, comm), (data, into))
REFUSE(MPI_Neighbor_allgatherv,
       (const void *data, int count, handle type, void *into, const int *rooms, const int *firsts,
        handle into_type, handle comm),
       (data, count, type, into, rooms, firsts, into_type, comm), (data, into))
REFUSE(MPI_Neighbor_alltoallv,
       (const void *data, const int *counts, const int *firsts, handle type, void *into,
        const int *rooms, const int *into_firsts, handle into_type, handle comm),
       (data, counts, firsts, type, into, rooms, into_firsts, into_type, comm), (data, into))
REFUSE(MPI_Neighbor_alltoallw,
       (const void *data, const int *counts, const long *firsts, const void *types, void *into,
        const int *rooms, const long *into_firsts, const void *into_types, handle comm),
       (data, counts, firsts, types, into, rooms, into_firsts, into_types, comm), (data, into))
REFUSE(MPI_Alltoallw,
       (const void *data, const int *counts, const int *firsts, const void *types, void *into,
        const int *rooms, const int *into_firsts, const void *into_types, handle comm),
       (data, counts, firsts, types, into, rooms, into_firsts, into_types, comm), (data, into))
REFUSE(MPI_Ineighbor_allgather,
       (const void *data, int count, handle type, void *into, int room, handle into_type,
        handle comm, void *request),
       (data, count, type, into, room, into_type, comm, request), (data, into))
REFUSE(MPI_Ineighbor_alltoall,
       (const void *data, int count, handle type, void *into, int room, handle into_type,
        handle comm, void *request),
       (data, count, type, into, room, into_type, comm, request), (data, into))
REFUSE(MPI_Ineighbor_allgatherv,
       (const void *data, int count, handle type, void *into, const int *rooms, const int *firsts,
        handle into_type, handle comm, void *request),
       (data, count, type, into, rooms, firsts, into_type, comm, request), (data, into))
REFUSE(MPI_Ineighbor_alltoallv,
       (const void *data, const int *counts, const int *firsts, handle type, void *into,
        const int *rooms, const int *into_firsts, handle into_type, handle comm, void *request),
       (data, counts, firsts, type, into, rooms, into_firsts, into_type, comm, request),
       (data, into))
REFUSE(MPI_Ineighbor_alltoallw,
       (const void *data, const int *counts, const long *firsts, const void *types, void *into,
        const int *rooms, const long *into_firsts, const void *into_types, handle comm,
        void *request),
       (data, counts, firsts, types, into, rooms, into_firsts, into_types, comm, request),
       (data, into))
REFUSE(MPI_Ialltoallw,
       (const void *data, const int *counts, const int *firsts, const void *types, void *into,
        const int *rooms, const int *into_firsts, const void *into_types, handle comm,
        void *request),
       (data, counts, firsts, types, into, rooms, into_firsts, into_types, comm, request),
       (data, into))

/* ---- collectives that go on, messages that are begun again ---- */

REFUSE(MPI_Iexscan,
       (const void *data, void *into, int count, handle type, handle op, handle comm,
        void *request),
       (data, into, count, type, op, comm, request), (data, into))
REFUSE(MPI_Ireduce_scatter,
       (const void *data, void *into, const int *counts, handle type, handle op, handle comm,
        void *request),
       (data, into, counts, type, op, comm, request), (data, into))
REFUSE(MPI_Ireduce_scatter_block,
       (const void *data, void *into, int count, handle type, handle op, handle comm,
        void *request),
       (data, into, count, type, op, comm, request), (data, into))
REFUSE(MPI_Igatherv,
       (const void *data, int count, handle type, void *into, const int *rooms, const int *firsts,
        handle into_type, int root, handle comm, void *request),
       (data, count, type, into, rooms, firsts, into_type, root, comm, request), (data, into))
REFUSE(MPI_Iscatterv,
       (const void *data, const int *counts, const int *firsts, handle type, void *into, int room,
        handle into_type, int root, handle comm, void *request),
       (data, counts, firsts, type, into, room, into_type, root, comm, request), (data, into))
REFUSE(MPI_Bsend_init,
       (const void *data, int count, handle type, int peer, int tag, handle comm, void *request),
       (data, count, type, peer, tag, comm, request), (data))
REFUSE(MPI_Ssend_init,
       (const void *data, int count, handle type, int peer, int tag, handle comm, void *request),
       (data, count, type, peer, tag, comm, request), (data))
REFUSE(MPI_Rsend_init,
       (const void *data, int count, handle type, int peer, int tag, handle comm, void *request),
       (data, count, type, peer, tag, comm, request), (data))
REFUSE(MPI_Ibcast, (void *data, int count, handle type, int root, handle comm, void *request),
       (data, count, type, root, comm, request), (data))
REFUSE(MPI_Ireduce,
       (const void *data, void *into, int count, handle type, handle op, int root, handle comm,
        void *request),
       (data, into, count, type, op, root, comm, request), (data, into))
REFUSE(MPI_Iallreduce,
       (const void *data, void *into, int count, handle type, handle op, handle comm,
        void *request),
       (data, into, count, type, op, comm, request), (data, into))
REFUSE(MPI_Iscan,
       (const void *data, void *into, int count, handle type, handle op, handle comm,
        void *request),
       (data, into, count, type, op, comm, request), (data, into))
REFUSE(MPI_Iallgather,
       (const void *data, int count, handle type, void *into, int room, handle into_type,
        handle comm, void *request),
       (data, count, type, into, room, into_type, comm, request), (data, into))
REFUSE(MPI_Ialltoall,
       (const void *data, int count, handle type, void *into, int room, handle into_type,
        handle comm, void *request),
       (data, count, type, into, room, into_type, comm, request), (data, into))
REFUSE(MPI_Igather,
       (const void *data, int count, handle type, void *into, int room, handle into_type, int root,
        handle comm, void *request),
       (data, count, type, into, room, into_type, root, comm, request), (data, into))
REFUSE(MPI_Iscatter,
       (const void *data, int count, handle type, void *into, int room, handle into_type, int root,
        handle comm, void *request),
       (data, count, type, into, room, into_type, root, comm, request), (data, into))
REFUSE(MPI_Iallgatherv,
       (const void *data, int count, handle type, void *into, const int *rooms, const int *firsts,
        handle into_type, handle comm, void *request),
       (data, count, type, into, rooms, firsts, into_type, comm, request), (data, into))
REFUSE(MPI_Ialltoallv,
       (const void *data, const int *counts, const int *firsts, handle type, void *into,
        const int *rooms, const int *into_firsts, handle into_type, handle comm, void *request),
       (data, counts, firsts, type, into, rooms, into_firsts, into_type, comm, request),
       (data, into))
REFUSE(MPI_Send_init,
       (const void *data, int count, handle type, int peer, int tag, handle comm, void *request),
       (data, count, type, peer, tag, comm, request), (data))
REFUSE(MPI_Recv_init,
       (void *data, int count, handle type, int peer, int tag, handle comm, void *request),
       (data, count, type, peer, tag, comm, request), (data))

/* ---- packed data ---- */

REFUSE(MPI_Pack,
       (const void *data, int count, handle type, void *into, int room, int *at, handle comm),
       (data, count, type, into, room, at, comm), (data, into))
REFUSE(MPI_Unpack,
       (const void *data, int bytes, int *at, void *into, int count, handle type, handle comm),
       (data, bytes, at, into, count, type, comm), (data, into))
REFUSE(MPI_Pack_external,
       (const char *form, const void *data, int count, handle type, void *into, long room,
        long *at),
       (form, data, count, type, into, room, at), (data, into))
REFUSE(MPI_Unpack_external,
       (const char *form, const void *data, long bytes, long *at, void *into, int count,
        handle type),
       (form, data, bytes, at, into, count, type), (data, into))
REFUSE(MPI_Buffer_attach, (void *data, int bytes), (data, bytes), (data))

/* ---- files: calls that begin what another one ends ---- */

#define REFUSE_BEGUN(name, constant)                                                               \
    REFUSE(name##_all_begin, (handle file, constant void *data, int count, handle type),           \
           (file, data, count, type), (data))                                                      \
    REFUSE(name##_ordered_begin, (handle file, constant void *data, int count, handle type),       \
           (file, data, count, type), (data))                                                      \
    REFUSE(name##_at_all_begin,                                                                    \
           (handle file, long long at, constant void *data, int count, handle type),               \
           (file, at, data, count, type), (data))
REFUSE_BEGUN(MPI_File_read, )
REFUSE_BEGUN(MPI_File_write, const)

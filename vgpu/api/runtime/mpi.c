/* SPDX-License-Identifier: MIT
 * mpi.c: copies of the program's buffers for MPI's library, and messages from one rank to another.
 * See mpi.h.
 */
#include "mpi.h"

#include <stdlib.h>

LIBRARY int PMPI_Type_size(handle type, int *bytes);
LIBRARY int PMPI_Type_get_extent(handle type, long *first, long *bytes);
LIBRARY int PMPI_Type_get_true_extent(handle type, long *first, long *bytes);

enum { FAILED = 16 }; /* MPI_ERR_OTHER of Open MPI */

bool vgpu__mpi_is_device(const void *address)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    return at >= VGPU_ARENA_VA && at < VGPU_ARENA_END;
}

/* On a stream of its own, which waits for no other. */
static void move_buffer(struct buffer *b, void *to, const void *from)
{
    __attribute__((cleanup(vgpu__own_calls_end), unused)) struct vgpu__own_calls own =
        vgpu__own_calls_begin();
    cudaStream_t stream;
    b->failed = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess;
    if (b->failed)
        return;
    if (b->gaps && to == b->device)
        vgpu__mpi_close_gaps(b, stream);
    else
        b->failed = cudaMemcpyAsync(to, from, b->bytes, cudaMemcpyDefault, stream) != cudaSuccess;
    b->failed |= cudaStreamSynchronize(stream) != cudaSuccess;
    cudaStreamDestroy(stream);
}

/* What the elements span: also before the program's pointer, if the type says so. */
static void measure(struct buffer *b)
{
    long bound = 0, span = 0, last;
    PMPI_Type_get_extent(b->type, &bound, &b->element.extent);
    PMPI_Type_get_true_extent(b->type, &b->element.first, &span);
    PMPI_Type_size(b->type, &b->element.size);
    last = (b->count - 1) * b->element.extent;
    b->element.span = (size_t)span;
    b->low = b->element.first + (last < 0 ? last : 0);
    b->bytes = (size_t)(span + (last < 0 ? -last : last));
    b->gaps = b->bytes != (size_t)b->count * (size_t)b->element.size;
}

void *vgpu__mpi_open(struct buffer *b, const char *call, const void *address, long count,
                     handle type, int way)
{
    *b = (struct buffer){.call = call, .count = count, .type = type, .way = way};
    if (!vgpu__mpi_is_device(address) || count <= 0)
        return (void *)(uintptr_t)address;
    measure(b);
    b->device = (void *)((uintptr_t)address + (uintptr_t)b->low);
    b->host = malloc(b->bytes + 1); /* of no bytes, too */
    b->failed = !b->host;
    if (b->host && ((way & IN) || b->gaps))
        move_buffer(b, b->host, b->device);
    return (void *)((uintptr_t)b->host - (uintptr_t)b->low);
}

int vgpu__mpi_close(struct buffer *b, int result)
{
    if (b->host && (b->way & OUT) && result == 0 && !b->failed)
        move_buffer(b, b->device, b->host);
    free(b->host);
    if (b->failed)
        vgpu__message(b->call, "the buffer at %p in device memory cannot be copied", b->device);
    return b->failed ? FAILED : result;
}

/* ---- from one rank to another; a receive may fill a part of its buffer ---- */

#define SEND(name)                                                                                 \
    LIBRARY int P##name(const void *, int, handle, int, int, handle);                              \
    int name(const void *data, int count, handle type, int to, int tag, handle comm);              \
    int name(const void *data, int count, handle type, int to, int tag, handle comm)               \
    {                                                                                              \
        BUFFER(out, data, count, type, IN);                                                        \
        return vgpu__mpi_close(&out,                                                               \
                               out.failed ? 0 : P##name(at_out, count, type, to, tag, comm));      \
    }
SEND(MPI_Send)
SEND(MPI_Ssend)
SEND(MPI_Rsend)
SEND(MPI_Bsend)

LIBRARY int PMPI_Recv(void *, int, handle, int, int, handle, void *);
int MPI_Recv(void *data, int count, handle type, int from, int tag, handle comm, void *status);
int MPI_Recv(void *data, int count, handle type, int from, int tag, handle comm, void *status)
{
    BUFFER(in, data, count, type, IN | OUT);
    return vgpu__mpi_close(&in,
                           in.failed ? 0 : PMPI_Recv(at_in, count, type, from, tag, comm, status));
}

LIBRARY int PMPI_Mrecv(void *, int, handle, void *, void *);
int MPI_Mrecv(void *data, int count, handle type, void *message, void *status);
int MPI_Mrecv(void *data, int count, handle type, void *message, void *status)
{
    BUFFER(in, data, count, type, IN | OUT);
    return vgpu__mpi_close(&in, in.failed ? 0 : PMPI_Mrecv(at_in, count, type, message, status));
}

LIBRARY int PMPI_Sendrecv(const void *, int, handle, int, int, void *, int, handle, int, int,
                          handle, void *);
int MPI_Sendrecv(const void *data, int count, handle type, int to, int tag, void *into, int room,
                 handle into_type, int from, int from_tag, handle comm, void *status);
int MPI_Sendrecv(const void *data, int count, handle type, int to, int tag, void *into, int room,
                 handle into_type, int from, int from_tag, handle comm, void *status)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, room, into_type, IN | OUT);
    int result = out.failed || in.failed ? 0
                                         : PMPI_Sendrecv(at_out, count, type, to, tag, at_in, room,
                                                         into_type, from, from_tag, comm, status);
    return vgpu__mpi_close(&in, vgpu__mpi_close(&out, result));
}

LIBRARY int PMPI_Sendrecv_replace(void *, int, handle, int, int, int, int, handle, void *);
int MPI_Sendrecv_replace(void *data, int count, handle type, int to, int tag, int from,
                         int from_tag, handle comm, void *status);
int MPI_Sendrecv_replace(void *data, int count, handle type, int to, int tag, int from,
                         int from_tag, handle comm, void *status)
{
    BUFFER(both, data, count, type, IN | OUT);
    return vgpu__mpi_close(&both, both.failed
                                      ? 0
                                      : PMPI_Sendrecv_replace(at_both, count, type, to, tag, from,
                                                              from_tag, comm, status));
}

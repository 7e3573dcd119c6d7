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
    b->failed = cudaMemcpyAsync(to, from, b->bytes, cudaMemcpyDefault, stream) != cudaSuccess ||
                cudaStreamSynchronize(stream) != cudaSuccess;
    cudaStreamDestroy(stream);
}

/* What `count` elements span, and whether there are gaps between them. */
static size_t span_of_elements(long count, handle type, bool *gaps)
{
    long first = 0, extent = 0, last = 0;
    int size = 0;
    PMPI_Type_get_extent(type, &first, &extent);
    PMPI_Type_get_true_extent(type, &first, &last);
    PMPI_Type_size(type, &size);
    size_t bytes = (size_t)(count - 1) * (size_t)extent + (size_t)(first + last);
    *gaps = bytes != (size_t)count * (size_t)size;
    return bytes;
}

void *vgpu__mpi_open(struct buffer *b, const char *call, const void *address, long count,
                     handle type, int way)
{
    bool gaps;
    *b = (struct buffer){.call = call, .device = (void *)(uintptr_t)address, .way = way};
    if (!vgpu__mpi_is_device(address) || count <= 0)
        return b->device;
    b->bytes = span_of_elements(count, type, &gaps);
    b->host = malloc(b->bytes);
    b->failed = !b->host;
    if (b->host && ((way & IN) || gaps))
        move_buffer(b, b->host, b->device);
    return b->host;
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

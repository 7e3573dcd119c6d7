/* SPDX-License-Identifier: MIT
 * mpi.c: MPI with buffers in device memory, as an MPI that is built for CUDA takes them. MPI's
 * library reads and writes a buffer itself, which host code cannot do with device memory. So this
 * file defines the calls in place of the library's (MPI's profiling interface, PMPI_) and passes
 * the library a copy in host memory. Linked only into programs that call them.
 *
 * Handles are ints or pointers, depending on the library: both fit into a machine word. As on
 * hardware a transfer waits for no stream: the program must wait before the call.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime.h"

typedef uintptr_t handle;
#define LIBRARY __attribute__((weak))

/* Of what may not be there but where an MPI is: declared here, since there may be no mpi.h. */
LIBRARY int PMPI_Type_size(handle type, int *bytes);
LIBRARY int PMPI_Type_get_extent(handle type, long *first, long *bytes);
LIBRARY int PMPI_Type_get_true_extent(handle type, long *first, long *bytes);
LIBRARY int PMPI_Comm_size(handle comm, int *ranks);

enum { IN = 1, OUT = 2 };
enum { FAILED = 16 }; /* MPI_ERR_OTHER of Open MPI */

/* A buffer of the program, and what the library is given for it. */
struct buffer {
    const char *call;
    void *device, *host;
    size_t bytes;
    int way;
    bool failed;
};

static bool is_device_memory(const void *address)
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
static size_t span_of_elements(int count, handle type, bool *gaps)
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

/* What the library is to be given. */
static void *open_buffer(struct buffer *b, const char *call, const void *address, int count,
                         handle type, int way)
{
    bool gaps;
    *b = (struct buffer){.call = call, .device = (void *)(uintptr_t)address, .way = way};
    if (!is_device_memory(address) || count <= 0)
        return b->device;
    b->bytes = span_of_elements(count, type, &gaps);
    b->host = malloc(b->bytes);
    b->failed = !b->host;
    if (b->host && ((way & IN) || gaps))
        move_buffer(b, b->host, b->device);
    return b->host;
}

/* The call's result. */
static int close_buffer(struct buffer *b, int result)
{
    if (b->host && (b->way & OUT) && result == 0 && !b->failed)
        move_buffer(b, b->device, b->host);
    free(b->host);
    if (b->failed)
        vgpu__message(b->call, "the buffer at %p in device memory cannot be copied", b->device);
    return b->failed ? FAILED : result;
}

/* ---- from one rank to another; a receive may fill a part of its buffer ---- */

#define BUFFER(name, address, count, type, way)                                                    \
    struct buffer name;                                                                            \
    void *at_##name = open_buffer(&name, __func__, address, count, type, way)

LIBRARY int PMPI_Send(const void *, int, handle, int, int, handle);
int MPI_Send(const void *data, int count, handle type, int to, int tag, handle comm);
int MPI_Send(const void *data, int count, handle type, int to, int tag, handle comm)
{
    BUFFER(out, data, count, type, IN);
    return close_buffer(&out, out.failed ? 0 : PMPI_Send(at_out, count, type, to, tag, comm));
}

LIBRARY int PMPI_Ssend(const void *, int, handle, int, int, handle);
int MPI_Ssend(const void *data, int count, handle type, int to, int tag, handle comm);
int MPI_Ssend(const void *data, int count, handle type, int to, int tag, handle comm)
{
    BUFFER(out, data, count, type, IN);
    return close_buffer(&out, out.failed ? 0 : PMPI_Ssend(at_out, count, type, to, tag, comm));
}

LIBRARY int PMPI_Recv(void *, int, handle, int, int, handle, void *);
int MPI_Recv(void *data, int count, handle type, int from, int tag, handle comm, void *status);
int MPI_Recv(void *data, int count, handle type, int from, int tag, handle comm, void *status)
{
    BUFFER(in, data, count, type, IN | OUT);
    return close_buffer(&in,
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
    return close_buffer(&in, close_buffer(&out, result));
}

/* ---- among all ranks ---- */

LIBRARY int PMPI_Bcast(void *, int, handle, int, handle);
int MPI_Bcast(void *data, int count, handle type, int root, handle comm);
int MPI_Bcast(void *data, int count, handle type, int root, handle comm)
{
    BUFFER(both, data, count, type, IN | OUT);
    return close_buffer(&both, both.failed ? 0 : PMPI_Bcast(at_both, count, type, root, comm));
}

LIBRARY int PMPI_Reduce(const void *, void *, int, handle, handle, int, handle);
int MPI_Reduce(const void *data, void *into, int count, handle type, handle op, int root,
               handle comm);
int MPI_Reduce(const void *data, void *into, int count, handle type, handle op, int root,
               handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, count, type, IN | OUT); /* in place it is the input, too */
    int result =
        out.failed || in.failed ? 0 : PMPI_Reduce(at_out, at_in, count, type, op, root, comm);
    return close_buffer(&in, close_buffer(&out, result));
}

LIBRARY int PMPI_Allreduce(const void *, void *, int, handle, handle, handle);
int MPI_Allreduce(const void *data, void *into, int count, handle type, handle op, handle comm);
int MPI_Allreduce(const void *data, void *into, int count, handle type, handle op, handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, count, type, IN | OUT);
    int result = out.failed || in.failed ? 0 : PMPI_Allreduce(at_out, at_in, count, type, op, comm);
    return close_buffer(&in, close_buffer(&out, result));
}

static int ranks_of(handle comm)
{
    int ranks = 1;
    PMPI_Comm_size(comm, &ranks);
    return ranks;
}

LIBRARY int PMPI_Allgather(const void *, int, handle, void *, int, handle, handle);
int MPI_Allgather(const void *data, int count, handle type, void *into, int room, handle into_type,
                  handle comm);
int MPI_Allgather(const void *data, int count, handle type, void *into, int room, handle into_type,
                  handle comm)
{
    BUFFER(out, data, count, type, IN);
    BUFFER(in, into, room * ranks_of(comm), into_type, IN | OUT);
    int result = out.failed || in.failed
                     ? 0
                     : PMPI_Allgather(at_out, count, type, at_in, room, into_type, comm);
    return close_buffer(&in, close_buffer(&out, result));
}

/* ---- what goes on after the call: not with device memory ---- */

static void refuse_device(const char *call, const void *address)
{
    if (!is_device_memory(address))
        return;
    vgpu__message(call,
                  "the buffer at %p is device memory: of MPI's calls that go on after they have "
                  "returned none takes it here; use MPI_Sendrecv, or a buffer in host memory",
                  address);
    _exit(EXIT_FAILURE); /* mpirun ends the other ranks */
}

LIBRARY int PMPI_Isend(const void *, int, handle, int, int, handle, void *);
int MPI_Isend(const void *data, int count, handle type, int to, int tag, handle comm,
              void *request);
int MPI_Isend(const void *data, int count, handle type, int to, int tag, handle comm, void *request)
{
    refuse_device("MPI_Isend", data);
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

LIBRARY int PMPI_Irecv(void *, int, handle, int, int, handle, void *);
int MPI_Irecv(void *data, int count, handle type, int from, int tag, handle comm, void *request);
int MPI_Irecv(void *data, int count, handle type, int from, int tag, handle comm, void *request)
{
    refuse_device("MPI_Irecv", data);
    return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

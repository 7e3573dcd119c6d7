/* SPDX-License-Identifier: MIT
 * mpi.h: MPI with buffers in device memory, as an MPI that is built for CUDA takes them. MPI's
 * library reads and writes a buffer itself, which host code cannot do with device memory. So the
 * files mpi*.c define the calls in place of the library's (MPI's profiling interface, PMPI_) and
 * pass the library a copy in host memory. Linked only into programs that call them.
 *
 * Handles are ints or pointers, depending on the library: both fit into a machine word. As on
 * hardware a transfer waits for no stream: the program must wait before the call.
 */
#ifndef VGPU_MPI_H
#define VGPU_MPI_H

#include <stdint.h>

#include "runtime.h"

typedef uintptr_t handle;
/* What may not be there but where an MPI is: declared here, since there may be no mpi.h. */
#define LIBRARY __attribute__((weak))

LIBRARY int PMPI_Comm_size(handle comm, int *ranks);
LIBRARY int PMPI_Comm_rank(handle comm, int *rank);

/* LIST (a, b): a, b */
#define LIST(...) __VA_ARGS__

enum { IN = 1, OUT = 2 };

/* A buffer of the program, and what the library is given for it. */
struct buffer {
    const char *call;
    void *device, *host; /* its first byte, which lies `low` behind the program's pointer */
    size_t bytes;
    long low, count;
    handle type;
    struct {
        long first, extent; /* of its data, from the element; from one to the next */
        size_t span;        /* from its first to its last byte */
        int size;           /* without gaps */
    } element;
    int way;
    bool gaps, failed;
};

bool vgpu__mpi_is_device(const void *address);
/* What the library is to be given for `count` elements of the program's. */
void *vgpu__mpi_open(struct buffer *buffer, const char *call, const void *address, long count,
                     handle type, int way);
/* Copies back what came, if the library's result is 0. Returns the call's result. */
int vgpu__mpi_close(struct buffer *buffer, int result);
/* Of that, the copy back of a type with gaps. */
void vgpu__mpi_close_gaps(struct buffer *buffer, cudaStream_t stream);
/* The library has begun the request at `request`, to which the buffer belongs until a call says
 * that it is done. Returns the call's result. */
int vgpu__mpi_begin(struct buffer *buffer, const void *request, int result);

#define BUFFER(name, address, count, type, way)                                                    \
    struct buffer name;                                                                            \
    void *at_##name = vgpu__mpi_open(&name, __func__, address, count, type, way)

#endif

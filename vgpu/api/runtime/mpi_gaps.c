/* SPDX-License-Identifier: MIT
 * mpi_gaps.c: copies what was received back to device memory, where the datatype has gaps: what
 * lies in these is the program's, whose kernels may change it in the meantime. See mpi.h.
 */
#include "mpi.h"

#include <stdlib.h>
#include <string.h>

LIBRARY extern char ompi_mpi_comm_self; /* of Open MPI */
LIBRARY int PMPI_Unpack(const void *, int, int *, void *, int, handle, handle);

enum { MPICH_COMM_SELF = 0x44000001 };

/* Rows of the same length at the same distance, which one call copies. */
struct rows {
    size_t at, length, distance, count;
};

/* Of one element: a byte for each of its bytes, which is not 0 where it has data. */
static unsigned char *data_mask(const struct buffer *b)
{
    handle self =
        &ompi_mpi_comm_self ? (handle)(uintptr_t)&ompi_mpi_comm_self : (handle)MPICH_COMM_SELF;
    unsigned char *mask = calloc(1, b->element.span), *data = malloc((size_t)b->element.size);
    int at = 0;
    bool done = mask && data;
    if (done) {
        memset(data, 0xFF, (size_t)b->element.size);
        void *first = (void *)((uintptr_t)mask - (uintptr_t)b->element.first);
        done = PMPI_Unpack(data, b->element.size, &at, first, 1, b->type, self) == 0;
    }
    free(data);
    if (done)
        return mask;
    free(mask);
    return NULL;
}

static void put_rows(struct buffer *b, struct rows *rows, cudaStream_t stream)
{
    if (rows->count != 0 && !b->failed)
        b->failed = cudaMemcpy2DAsync((char *)b->device + rows->at, rows->distance,
                                      (char *)b->host + rows->at, rows->distance, rows->length,
                                      rows->count, cudaMemcpyDefault, stream) != cudaSuccess;
    rows->count = 0;
}

/* The next piece of data becomes a row of these, or the first of others. */
static void add_row(struct buffer *b, struct rows *rows, size_t at, size_t length,
                    cudaStream_t stream)
{
    bool alike = rows->count != 0 && length == rows->length && at >= rows->at + length;
    if (alike && rows->count == 1)
        rows->distance = at - rows->at;
    if (alike && at == rows->at + rows->count * rows->distance) {
        rows->count++;
        return;
    }
    put_rows(b, rows, stream);
    *rows = (struct rows){at, length, length, 1};
}

void vgpu__mpi_close_gaps(struct buffer *b, cudaStream_t stream)
{
    unsigned char *mask = data_mask(b);
    struct rows rows = {.count = 0};
    b->failed = !mask;
    for (long i = 0; i < b->count && !b->failed; i++) {
        size_t from = (size_t)(i * b->element.extent + b->element.first - b->low);
        for (size_t at = 0, end; at < b->element.span; at = end) {
            for (end = at; end < b->element.span && !mask[end] == !mask[at]; end++)
                continue;
            if (mask[at])
                add_row(b, &rows, from + at, end - at, stream);
        }
    }
    put_rows(b, &rows, stream);
    free(mask);
}

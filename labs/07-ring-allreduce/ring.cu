// SPDX-License-Identifier: MIT
// ring.cu: your file of lab 07, all-reduce on a ring of GPUs. The contract of every function is in
// lab07.h, the tasks and hints are in README.md.
//
// A `.cu` file is compiled as C++. Stay with C and two things to remember: a void * needs a cast
// before it becomes another pointer, and a `goto` must not jump over an initialisation.
#include <stdint.h>
#include <string.h>

#include <cuda_fp16.h>

#include "lab07.h"

int ring_chunk(size_t count, int n, int k, size_t *first, size_t *len)
{
    if (n < 1 || k < 0 || k >= n || first == NULL || len == NULL)
        return LAB_EINVAL;
    // TODO(1): which elements are chunk k.  (about 4 lines)
    //   before: any count, even 0 and numbers close to SIZE_MAX
    //   after:  *first and *len say it; the chunks cover 0 .. count - 1 in order, and the first
    //           count % n of them have one element more than the others
    //   use:    count / n and count % n, in size_t
    (void)count;
    TODO(1);
}

// The kernel of TODO(2) goes here: one loop that strides over the whole grid, for three types and
// two operations. A template saves you from writing it six times.

int ring_reduce(void *dst, const void *src, size_t count, enum ring_type type, enum ring_op op,
                cudaStream_t stream)
{
    if (ring_type_bytes(type) == 0 || (op != RING_SUM && op != RING_MAX) ||
        (count > 0 && (dst == NULL || src == NULL)))
        return LAB_EINVAL;
    // TODO(2): dst[i] = dst[i] op src[i], on the GPU.  (about 36 lines with the kernel)
    //   before: both arrays and the stream belong to the current device
    //   after:  one kernel is queued, or none when count is 0; nothing was waited for
    //   use:    <<<blocks, threads, 0, stream>>>, ring_result(cudaGetLastError())
    (void)stream;
    TODO(2);
}

// Given: whether the longest chunk, which is the first, fits into half of an inbox.
static int chunks_fit(const struct ring *ring, size_t count, enum ring_type type)
{
    size_t n = (size_t)ring->n, longest = count / n + (count % n != 0);

    return longest * ring_type_bytes(type) <= ring->inbox_bytes;
}

// Given: checks the arguments of TODO(5), TODO(6) and TODO(8).
static int check_pair(const struct ring *ring, void *const *send, void *const *recv, size_t count,
                      enum ring_type type, enum ring_op op)
{
    int rc = ring_check(ring, send, count, type, op);

    if (rc == LAB_OK)
        rc = ring_check(ring, recv, count, type, op);
    for (int r = 0; rc == LAB_OK && count > 0 && r < ring->n; r++)
        if (!ring_apart(send[r], recv[r], count * ring_type_bytes(type)))
            rc = LAB_EINVAL;
    return rc;
}

// Helpers of TODO(3) to TODO(6) go here: the next rank, a chunk's number modulo n, a chunk's bytes.

int ring_reduce_scatter(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                        enum ring_op op)
{
    int rc = ring_check(ring, buf, count, type, op);

    if (rc != LAB_OK || count == 0)
        return rc;
    if (!chunks_fit(ring, count, type))
        return LAB_ERANGE;
    // TODO(3): n - 1 steps after which rank r owns chunk r.  (about 85 lines with helpers)
    //   before: rank r's numbers are in buf[r]; the inboxes are not in use
    //   after:  all steps are queued: in step k rank r sends chunk r - 1 - k and adds what came in
    //           to chunk r - 2 - k
    //   use:    cudaMemcpyAsync with cudaMemcpyDefault, cudaEventRecord, cudaStreamWaitEvent,
    //           ring_reduce, cudaSetDevice before a kernel. In each step first all sends, then all
    //           adds: a wait for an event that has not been recorded yet ends at once
    TODO(3);
}

int ring_all_gather(struct ring *ring, void *const *buf, size_t count, enum ring_type type)
{
    int rc = ring_check(ring, buf, count, type, RING_SUM);

    if (rc != LAB_OK || count == 0)
        return rc;
    // TODO(4): n - 1 steps after which every rank has all chunks.  (about 12 lines)
    //   before: rank r owns chunk r
    //   after:  all steps are queued: in step k rank r sends chunk r - k to its place in the next
    //           rank's buffer; rank r's stream has waited for what came in
    //   use:    cudaMemcpyAsync with cudaMemcpyDefault, cudaEventRecord, cudaStreamWaitEvent; no
    //           inbox is needed, as nothing is added. Who may write into a buffer, and when?
    TODO(4);
}

// A helper of TODO(5) and TODO(6) may go here: the copy from send to recv, where they differ.

int ring_all_reduce(struct ring *ring, void *const *send, void *const *recv, size_t count,
                    enum ring_type type, enum ring_op op)
{
    int rc = check_pair(ring, send, recv, count, type, op);

    if (rc == LAB_OK && !chunks_fit(ring, count, type))
        rc = LAB_ERANGE; // before any copy: a refused call queues nothing
    if (rc != LAB_OK)
        return rc;
    // TODO(5): both halves, in place or out of place.  (about 15 lines)
    //   before: send[r] and recv[r] are the same, or apart
    //   after:  all is queued; recv[r] will hold the result, and send[r] what it held
    //   use:    cudaMemcpyAsync, ring_reduce_scatter, ring_all_gather
    TODO(5);
}

// Helpers of TODO(6) go here: what a slice waits for, its sending, its adding.

int ring_pipelined(struct ring *ring, void *const *send, void *const *recv, size_t count,
                   enum ring_type type, enum ring_op op, int slices)
{
    int rc = check_pair(ring, send, recv, count, type, op);

    if (rc == LAB_OK && (slices < 1 || slices > RING_SLICES))
        rc = LAB_EINVAL;
    if (rc == LAB_OK && !chunks_fit(ring, count, type))
        rc = LAB_ERANGE;
    if (rc != LAB_OK)
        return rc;
    // TODO(6): the same all-reduce, with the adding hidden behind the sending.  (about 145 lines)
    //   before: as TODO(5)
    //   after:  all is queued: each slice of a chunk is sent on a lane as soon as it is there, and
    //           added on `stream`, while the next slice is on its way
    //   use:    lane[s % RING_LANES], lane_sent[s], lane_taken[k % 2][s]; slice s of a chunk is
    //           ring_chunk(len, slices, s, ...) of it. At the beginning the lanes must wait for
    //           `stream`, and at the end `stream` must wait for the lanes
    TODO(6);
}

// A helper of TODO(7) may go here: one that extends a path by one GPU, and calls itself.

int ring_order(int n, const uint8_t *links, int *order)
{
    if (n < 1 || n > RING_RANKS || links == NULL || order == NULL)
        return LAB_EINVAL;
    // TODO(7): a way around all GPUs over links, as wide as can be.  (about 35 lines)
    //   before: links[from * n + to] links lead from one GPU to the other, perhaps in one direction
    //           only
    //   after:  order[0] = 0, order[1], ... is a ring whose narrowest hop has the most links
    //   use:    try the numbers of links from the largest down; for each, a path that grows by one
    //           GPU at a time and steps back where it cannot go on (8 GPUs are 5040 paths at most)
    TODO(7);
}

// The kernel of TODO(8) goes here: a struct with an array of pointers is a fine argument.

int ring_one_shot(struct ring *ring, void *const *send, void *const *recv, size_t count,
                  enum ring_type type, enum ring_op op)
{
    int rc = check_pair(ring, send, recv, count, type, op);

    if (rc == LAB_OK && count * ring_type_bytes(type) > 2 * ring->inbox_bytes)
        rc = LAB_ERANGE;
    if (rc != LAB_OK)
        return rc;
    // TODO(8), bonus: every rank reads all inboxes at once.  (about 80 lines with the kernel)
    //   before: as TODO(5)
    //   after:  all is queued: my data into my inbox, then one kernel a rank that combines all
    //           inboxes in the order of the ranks
    //   use:    ring_reads_all, inbox[0] (the halves lie one behind the other), ready, sent,
    //           cudaStreamWaitEvent. Who may read an inbox, from when on; who may fill it again,
    //           from when on?
    TODO(8);
}

int ring_pick(struct ring *ring, void *const *send, void *const *recv, size_t count,
              enum ring_type type, enum ring_op op, size_t small)
{
    // TODO(8), bonus: one shot for small messages, the ring for all others.  (about 8 lines)
    //   before: as TODO(5)
    //   after:  one of the two has queued it
    //   use:    ring_type_bytes, ring_one_shot, ring_pipelined with RING_PICKED slices
    (void)ring;
    (void)send;
    (void)recv;
    (void)count;
    (void)type;
    (void)op;
    (void)small;
    TODO(8);
}

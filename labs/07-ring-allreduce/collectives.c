/* SPDX-License-Identifier: MIT
 * collectives.c: see collectives.h. Copies are the sender's, on its own stream; adding is done by
 * the receiver, from its inbox. An inbox has two halves: while one is read the other is filled.
 */
#include <stddef.h>

#include "collectives.h"

/* ---- helpers ---- */

static int after(cudaStream_t stream, cudaEvent_t event)
{
    return ring_result(cudaStreamWaitEvent(stream, event, 0));
}

static int mark(cudaEvent_t event, cudaStream_t stream)
{
    return ring_result(cudaEventRecord(event, stream));
}

static int copy(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    return bytes == 0 ? LAB_OK
                      : ring_result(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
}

/* Every rank's stream waits for every other's: all memory may be written to from here on. Before a
 * collective and after it, as any rank may send to any other. */
static int meet(struct ring *ring)
{
    int rc = LAB_OK;

    for (int r = 0; r < ring->n && rc == LAB_OK; r++)
        rc = mark(ring->rank[r].ready, ring->rank[r].stream);
    for (int r = 0; r < ring->n; r++)
        for (int p = 0; p < ring->n && rc == LAB_OK; p++)
            if (p != r)
                rc = after(ring->rank[r].stream, ring->rank[p].ready);
    return rc;
}

/* Chunk k of n, in bytes. */
struct part {
    size_t at, count, bytes;
};

static struct part part_of(size_t count, int n, int k, enum ring_type type)
{
    size_t each = ring_type_bytes(type), long_ones = count % (size_t)n, before = (size_t)k;
    size_t len = count / (size_t)n + (before < long_ones ? 1 : 0);
    size_t first = before * (count / (size_t)n) + (before < long_ones ? before : long_ones);

    return (struct part){first * each, len, len * each};
}

/* In how many pieces `count` elements go through halves of an inbox; at least `least`. */
static int pieces_of(const struct ring *ring, size_t count, enum ring_type type, int least)
{
    size_t room = ring->inbox_bytes / ring_type_bytes(type), pieces = (count + room - 1) / room;

    return pieces < (size_t)least ? least : (int)pieces;
}

static int check_root(const struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                      enum ring_op op, int root)
{
    int rc = ring_check(ring, buf, count, type, op);

    return rc == LAB_OK && (root < 0 || root >= ring->n) ? LAB_EINVAL : rc;
}

static int check_chunks(const struct ring *ring, size_t count, enum ring_type type)
{
    return part_of(count, ring->n, 0, type).bytes > ring->inbox_bytes ? LAB_ERANGE : LAB_OK;
}

/* Sends to rank `to`, into its inbox half, which must have been emptied if it was used before. */
static int send_in(struct ring *ring, int from, int to, int half, int used, const void *data,
                   size_t bytes)
{
    struct ring_rank *me = &ring->rank[from], *other = &ring->rank[to];
    int rc = used ? after(me->stream, other->taken[half]) : LAB_OK;

    if (rc == LAB_OK)
        rc = copy(other->inbox[half], data, bytes, me->stream);
    return rc == LAB_OK ? mark(me->sent, me->stream) : rc;
}

/* Adds what rank `from` has just sent into my inbox half. */
static int add_in(struct ring *ring, int from, int to, int half, void *dst, size_t count,
                  enum ring_type type, enum ring_op op, coll_adder *add)
{
    struct ring_rank *me = &ring->rank[to];
    int rc = ring_result(cudaSetDevice(me->gpu));

    if (rc == LAB_OK)
        rc = after(me->stream, ring->rank[from].sent);
    if (rc == LAB_OK)
        rc = add(dst, me->inbox[half], count, type, op, me->stream);
    return rc == LAB_OK ? mark(me->taken[half], me->stream) : rc;
}

/* ---- broadcast and reduce: a chain around the ring ---- */

/* Piece p goes one hop on, from the i-th rank after the root to the next. */
static int pass_on(struct ring *ring, void *const *buf, struct part piece, int root, int i)
{
    int from = (root + i) % ring->n, to = (from + 1) % ring->n;
    struct ring_rank *me = &ring->rank[from];
    int rc = LAB_OK;

    if (i > 0) /* the rank before me has just recorded that the piece is here */
        rc = after(me->stream, ring->rank[(from + ring->n - 1) % ring->n].sent);
    if (rc == LAB_OK)
        rc =
            copy((char *)buf[to] + piece.at, (char *)buf[from] + piece.at, piece.bytes, me->stream);
    return rc == LAB_OK ? mark(me->sent, me->stream) : rc;
}

int coll_broadcast(struct ring *ring, void *const *buf, size_t count, enum ring_type type, int root)
{
    int rc = check_root(ring, buf, count, type, RING_SUM, root);

    if (rc != LAB_OK || count == 0)
        return rc;
    rc = meet(ring);
    for (int p = 0; p < RING_SLICES; p++)
        for (int i = 0; i < ring->n - 1 && rc == LAB_OK; i++)
            rc = pass_on(ring, buf, part_of(count, RING_SLICES, p, type), root, i);
    return rc == LAB_OK ? meet(ring) : rc;
}

int coll_reduce(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                enum ring_op op, int root, coll_adder *add)
{
    int before = 0, rc = check_root(ring, buf, count, type, op, root);

    if (rc != LAB_OK || count == 0)
        return rc;
    int pieces = pieces_of(ring, count, type, RING_SLICES);
    if ((rc = ring_result(cudaGetDevice(&before))) != LAB_OK)
        return rc;
    rc = meet(ring);
    for (int p = 0; p < pieces; p++)
        for (int i = 1; i < ring->n && rc == LAB_OK; i++) {
            int from = (root + i) % ring->n, to = (from + 1) % ring->n;
            struct part piece = part_of(count, pieces, p, type);
            rc = send_in(ring, from, to, p % 2, p >= 2, (char *)buf[from] + piece.at, piece.bytes);
            if (rc == LAB_OK)
                rc = add_in(ring, from, to, p % 2, (char *)buf[to] + piece.at, piece.count, type,
                            op, add);
        }
    ring_result(cudaSetDevice(before));
    return rc == LAB_OK ? meet(ring) : rc;
}

/* ---- everybody to everybody ---- */

int coll_all_gather(struct ring *ring, void *const *buf, size_t count, enum ring_type type)
{
    int rc = ring_check(ring, buf, count, type, RING_SUM);

    if (rc != LAB_OK || count == 0)
        return rc;
    rc = meet(ring);
    for (int step = 1; step < ring->n; step++) /* in each step every rank sends and gets once */
        for (int r = 0; r < ring->n && rc == LAB_OK; r++) {
            struct part mine = part_of(count, ring->n, r, type);
            rc = copy((char *)buf[(r + step) % ring->n] + mine.at, (char *)buf[r] + mine.at,
                      mine.bytes, ring->rank[r].stream);
        }
    return rc == LAB_OK ? meet(ring) : rc;
}

/* Step 1, 2, ...: rank r sends to the rank `step` further on, and adds what the one `step` before
 * has sent. */
static int scatter_step(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                        enum ring_op op, coll_adder *add, int step)
{
    int n = ring->n, rc = LAB_OK;

    for (int r = 0; r < n && rc == LAB_OK; r++) {
        int to = (r + step) % n;
        struct part theirs = part_of(count, n, to, type);
        rc = send_in(ring, r, to, step % 2, step > 2, (char *)buf[r] + theirs.at, theirs.bytes);
    }
    for (int r = 0; r < n && rc == LAB_OK; r++) {
        struct part mine = part_of(count, n, r, type);
        rc = add_in(ring, (r + n - step) % n, r, step % 2, (char *)buf[r] + mine.at, mine.count,
                    type, op, add);
    }
    return rc;
}

int coll_reduce_scatter(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                        enum ring_op op, coll_adder *add)
{
    int before = 0, rc = ring_check(ring, buf, count, type, op);

    if (rc == LAB_OK)
        rc = check_chunks(ring, count, type);
    if (rc != LAB_OK || count == 0)
        return rc;
    if ((rc = ring_result(cudaGetDevice(&before))) != LAB_OK)
        return rc;
    rc = meet(ring);
    for (int step = 1; step < ring->n && rc == LAB_OK; step++)
        rc = scatter_step(ring, buf, count, type, op, add, step);
    ring_result(cudaSetDevice(before));
    return rc == LAB_OK ? meet(ring) : rc;
}

int coll_all_reduce(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                    enum ring_op op, coll_adder *add)
{
    int rc = coll_reduce_scatter(ring, buf, count, type, op, add);

    return rc == LAB_OK ? coll_all_gather(ring, buf, count, type) : rc;
}

int coll_all_to_all(struct ring *ring, void *const *send, void *const *recv, size_t count,
                    enum ring_type type)
{
    int rc = ring_check(ring, send, count, type, RING_SUM);

    if (rc == LAB_OK)
        rc = ring_check(ring, recv, count, type, RING_SUM);
    if (rc != LAB_OK || count == 0)
        return rc;
    if (count % (size_t)ring->n != 0)
        return LAB_EINVAL;
    for (int r = 0; r < ring->n; r++)
        if (send[r] == recv[r] || !ring_apart(send[r], recv[r], count * ring_type_bytes(type)))
            return LAB_EINVAL;
    rc = meet(ring);
    for (int step = 0; step < ring->n; step++) /* step 0: my own chunk, which stays here */
        for (int r = 0; r < ring->n && rc == LAB_OK; r++) {
            int to = (r + step) % ring->n;
            struct part theirs = part_of(count, ring->n, to, type);
            rc = copy((char *)recv[to] + part_of(count, ring->n, r, type).at,
                      (char *)send[r] + theirs.at, theirs.bytes, ring->rank[r].stream);
        }
    return rc == LAB_OK ? meet(ring) : rc;
}

/* ---- the one to beat ---- */

int coll_naive_all_reduce(struct ring *ring, void *const *buf, size_t count, enum ring_type type,
                          enum ring_op op, coll_adder *add)
{
    int before = 0, rc = ring_check(ring, buf, count, type, op), turn = 0;

    if (rc != LAB_OK || count == 0)
        return rc;
    int pieces = pieces_of(ring, count, type, 1);
    if ((rc = ring_result(cudaGetDevice(&before))) != LAB_OK)
        return rc;
    rc = meet(ring);
    for (int r = 1; r < ring->n; r++)
        for (int p = 0; p < pieces && rc == LAB_OK; p++, turn++) {
            struct part piece = part_of(count, pieces, p, type);
            rc = send_in(ring, r, 0, turn % 2, turn >= 2, (char *)buf[r] + piece.at, piece.bytes);
            if (rc == LAB_OK)
                rc = add_in(ring, r, 0, turn % 2, (char *)buf[0] + piece.at, piece.count, type, op,
                            add);
        }
    rc = rc == LAB_OK ? meet(ring) : rc;
    for (int r = 1; r < ring->n && rc == LAB_OK; r++)
        rc = copy(buf[r], buf[0], count * ring_type_bytes(type), ring->rank[0].stream);
    ring_result(cudaSetDevice(before));
    return rc == LAB_OK ? meet(ring) : rc;
}

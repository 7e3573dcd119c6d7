/* SPDX-License-Identifier: MIT
 * common.h: what lab 05's public and hidden cases share.
 */
#ifndef LAB05_COMMON_H
#define LAB05_COMMON_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

#include "io.h"

#define KIB ((uint64_t)1 << 10)
#define GIB ((uint64_t)1 << 30)
#define BUSY_BYTES (4096 * KIB) /* a copy that lasts longer than the calls behind it */

static inline const char *rc_name(int rc)
{
    static const char *const names[] = {"LAB_OK",     "LAB_EINVAL", "LAB_ENOGPU", "LAB_ENOPEER",
                                        "LAB_ENOMEM", "LAB_ECUDA",  "LAB_EPEER",  "LAB_ERANGE"};
    return rc <= 0 && rc > -8 ? names[-rc] : "not a result of lab.h";
}

static inline void expect_rc(struct lab_test *t, const char *call, int got, int want)
{
    lab_expect(t, got == want, "%s returned %d (%s), expected %d (%s)", call, got, rc_name(got),
               want, rc_name(want));
}

static inline void expect_clear(struct lab_test *t, const char *call, int last)
{
    lab_expect(t, last == 0,
               "after %s CUDA's last error was still %d: the caller's next check will report it "
               "for a call that succeeded; ipc_result clears it",
               call, last);
}

static inline struct lab_run *run_handle(struct lab_test *t, const struct handle_in *in)
{
    struct lab_run *run = lab_run(t, "handle", in, sizeof *in, sizeof(struct handle_out));
    const struct handle_out *out = lab_output(run);
    lab_expect(t, out->setup == 0, "the memory to export could not be made (%d)", out->setup);
    for (int r = 0; r < 2; r++)
        lab_expect(t, out->status[r] == 0, "rank %d ended with status %#x", r, out->status[r]);
    lab_expect(
        t, !out->not_met,
        "ipc_export and ipc_events in rank 0: rank 1 has waited for more than %d s for what "
        "they made; if they do not wait either, this machine is too busy: run the test again",
        PEERS_WAIT_MS / 1000);
    return run;
}

/* Memory of another process was opened, and not only said to be. */
static inline void expect_opened(struct lab_test *t, const struct lab_run *run, const char *what,
                                 unsigned least)
{
    const struct lab_witness *w = lab_witness(run);
    lab_expect(t, !w || w->ipc_opened >= least,
               "%s: the node saw another process's memory opened %u times, expected %u: it was not "
               "really shared",
               what, w ? w->ipc_opened : 0, least);
}

/* Every byte went straight from a rank's GPU to the next one's, and there from the inbox to dst; to
 * the host and from it goes what the test copies. */
static inline void expect_ring_copies(struct lab_test *t, const struct lab_run *run,
                                      const struct ring_in *in, int gpus)
{
    uint64_t want[LAB_MAX_GPUS][LAB_MAX_GPUS] = {{0}}, bytes = 0;
    for (int i = 0; i < in->rounds; i++)
        bytes += in->bytes[i];
    for (int r = 0; r < in->ranks; r++) {
        int next = (r + 1) % in->ranks % gpus;
        want[r % gpus][next] += bytes;
        want[next][next] += bytes;
    }
    for (int from = 0; from < gpus && lab_witness(run); from++)
        for (int to = 0; to < gpus; to++) {
            uint64_t copied = lab_copied_within(run, NULL, from, to);
            lab_expect(t, copied == want[from][to],
                       "%llu bytes were copied from GPU %d to GPU %d, expected %llu: ring_put "
                       "copies straight into the next rank's inbox, ring_take out of its own",
                       (unsigned long long)copied, from, to, (unsigned long long)want[from][to]);
        }
    lab_host_bytes(t, run, "ring_put and ring_take", 0, 0);
    lab_no_host_memory(t, run, "ring_put and ring_take");
}

/* What all ranks put, in all rounds. */
static inline unsigned char *sealed_bytes(struct lab_test *t, const struct ring_in *in)
{
    static unsigned char *data;
    uint64_t all = io_at(in, in->ranks, 0), word = 0;
    free(data);
    data = malloc((size_t)all);
    for (uint64_t i = 0; data && i < all; i++, word >>= 8) {
        word = i % 8 ? word : lab_secret(t);
        data[i] = (unsigned char)word;
    }
    lab_seal(t, data, (size_t)all, (size_t)all);
    return data;
}

static inline struct lab_run *run_ring(struct lab_test *t, const struct ring_in *in)
{
    (void)sealed_bytes(t, in);
    return lab_run(t, "ring", in, sizeof *in, sizeof(struct ring_out));
}

/* Rank r has got what `from` sent in that round. */
static inline bool came_from(const struct ring_in *in, const unsigned char *sent,
                             const unsigned char *taken, int r, int round, int from)
{
    return memcmp(taken + io_at(in, r, round), sent + io_at(in, from, round),
                  (size_t)in->bytes[round]) == 0;
}

static inline void expect_taken(struct lab_test *t, const struct ring_in *in,
                                const unsigned char *sent, const unsigned char *taken, int r,
                                int round)
{
    int prev = (r + in->ranks - 1) % in->ranks;
    const unsigned char *got = taken + io_at(in, r, round), *want = sent + io_at(in, prev, round);
    uint64_t at = 0, bytes = in->bytes[round];
    for (int from = 0; from < in->ranks; from++)
        lab_expect_data(
            t,
            came_from(in, sent, taken, r, round, prev) ||
                !came_from(in, sent, taken, r, round, from),
            "rank %d of %d, round %d: got what rank %d sent, expected rank %d's: the handle, "
            "the inbox or the event of the wrong rank (each rank writes into next's inbox "
            "and reads its own)",
            r, in->ranks, round, from, prev);
    while (at < bytes && got[at] == want[at])
        at++;
    lab_expect_data(
        t, at == bytes,
        "rank %d of %d, round %d, byte %llu: got 0x%02x, expected 0x%02x: read or overwritten "
        "too early (%s)",
        r, in->ranks, round, (unsigned long long)at, got[at], want[at],
        in->again ? "a second ring over the same sockets: it has received a message of "
                    "the first; ipc_close must leave no message behind"
                  : "is each event recorded before the message that tells of it, and "
                    "waited for after the message? Is it the inbox that is read?");
    while (at < io_most(in) && got[at] == IO_RIM)
        at++;
    lab_expect_data(t, at == io_most(in),
                    "rank %d: ring_take wrote more than the bytes that were put: as many as the "
                    "message says, not the whole inbox",
                    r);
}

/* Every rank must have got what the one before it sent, in every round. */
static inline struct lab_run *check_ring(struct lab_test *t, const struct ring_in *in)
{
    int gpus = lab_gpus(t); /* of the node that the run gets */
    const unsigned char *sent = sealed_bytes(t, in);
    struct lab_run *run = lab_run(t, "ring", in, sizeof *in, sizeof(struct ring_out));
    const struct ring_out *out = lab_output(run);
    const unsigned char *taken = lab_sealed_output(run);
    for (int r = 0; r < in->ranks; r++) {
        const struct rank_out *k = &out->rank[r];
        char call[64];
        lab_expect(t, out->status[r] == 0, "rank %d of %d ended with status %#x, expected 0", r,
                   in->ranks, out->status[r]);
        snprintf(call, sizeof call, "rank %d: the ring before this one", r);
        expect_rc(t, call, k->earlier_rc, LAB_OK);
        snprintf(call, sizeof call, "rank %d: ring_open (given)", r);
        expect_rc(t, call, k->open_rc, LAB_OK);
        snprintf(call, sizeof call, "rank %d, round %d: ring_put", r, k->rounds_done);
        expect_rc(t, call, k->put_rc, LAB_OK);
        snprintf(call, sizeof call, "rank %d, round %d: ring_take", r, k->rounds_done);
        expect_rc(t, call, k->take_rc, LAB_OK);
        expect_clear(t, "ring_put and ring_take", k->last);
        snprintf(call, sizeof call, "rank %d: ipc_close", r);
        expect_rc(t, call, k->close_rc, LAB_OK);
    }
    for (int r = 0; r < in->ranks; r++) {
        const struct rank_out *k = &out->rank[r];
        lab_expect(t, k->rounds_done == in->rounds, "rank %d came to the end of %d rounds of %d", r,
                   k->rounds_done, in->rounds);
        for (int i = 0; i < in->rounds; i++)
            expect_taken(t, in, sent, taken, r, i);
        lab_expect(t, k->took == in->bytes[in->rounds - 1],
                   "rank %d: ring_take said %llu bytes, expected %llu", r,
                   (unsigned long long)k->took, (unsigned long long)in->bytes[in->rounds - 1]);
    }
    if (!in->more && !in->again)
        expect_ring_copies(t, run, in, gpus);
    lab_nothing_leaked(t, run);
    return run;
}

static inline void check_close_of(struct lab_test *t, int ranks)
{
    struct ring_in in = {
        .ranks = ranks, .rounds = 1, .die_rank = -1, .more = 1, .bytes = {BUSY_BYTES}};
    in.events = lab_is_virtual(t); /* drivers need not know an event that was destroyed */
    struct lab_run *run = check_ring(t, &in);
    const struct ring_out *out = lab_output(run);
    for (int r = 0; r < ranks; r++) {
        const struct rank_out *k = &out->rank[r];
        lab_expect(t, k->at_barriers == 1,
                   "rank %d: ipc_close came to %d barriers, expected one: without it memory is "
                   "freed that another rank has open",
                   r, k->at_barriers);
        lab_expect(t, k->mine_lives,
                   "rank %d freed its inbox before the barrier: another rank may still write to it",
                   r);
        lab_expect(t, k->finished,
                   "rank %d came to the barrier with copies still under way in its stream: finish "
                   "the stream, close, barrier, free",
                   r);
        lab_expect(t, k->theirs_closed,
                   "rank %d came to the barrier with the next rank's inbox open: close, barrier, "
                   "free",
                   r);
        for (int i = 0; i < 2; i++)
            lab_expect(t, !k->open_events[i],
                       "rank %d came to the barrier with %s open, which is an event of another "
                       "rank, expected it to be destroyed: that rank destroys its events as soon "
                       "as it is through the barrier",
                       r, i ? "next_drained" : "prev_filled");
        lab_expect(
            t, k->more_lives,
            "rank %d: ipc_close has closed memory that other ranks opened: an address can be given "
            "out again once its handle is closed, so close it once, before the barrier",
            r);
        lab_expect(t, k->cleared, "rank %d: ipc_close left something in *ring", r);
    }
}

/* A ring in which nobody has put anything: others have this rank's memory open all the same. */
static inline void check_close_idle(struct lab_test *t, int ranks)
{
    struct ring_in in = {.ranks = ranks, .rounds = 1, .die_rank = -1, .idle = 1, .bytes = {64}};
    const struct ring_out *out = lab_output(run_ring(t, &in));
    for (int r = 0; r < ranks; r++) {
        const struct rank_out *k = &out->rank[r];
        expect_rc(t, "ipc_close of a ring without a put", k->close_rc, LAB_OK);
        lab_expect(t, k->at_barriers == 1,
                   "rank %d: ipc_close of a ring without a put came to %d barriers, expected one: "
                   "another rank has its inbox open all the same",
                   r, k->at_barriers);
        lab_expect(t, k->mine_lives && k->theirs_closed && k->cleared,
                   "rank %d: ipc_close of a ring without a put did not close, meet the others, and "
                   "then free",
                   r);
    }
}

/* A second ring over the same sockets, whose rank 1 is slow to take. */
static inline void check_reopened(struct lab_test *t, int ranks)
{
    struct ring_in in = {.ranks = ranks,
                         .rounds = 4,
                         .die_rank = -1,
                         .again = 1,
                         .late = 1,
                         .bytes = {64, 64, 64, 64}};
    check_ring(t, &in);
}

/* Rank `dead` is killed before its put of round `round`; all others must find out, soon. */
static inline void check_death(struct lab_test *t, int ranks, int dead, int round)
{
    struct ring_in in = {.ranks = ranks,
                         .rounds = 4,
                         .die_rank = dead,
                         .die_round = round,
                         .bytes = {4096, 4096, 4096, 4096}};
    struct lab_run *run = run_ring(t, &in);
    const struct ring_out *out = lab_output(run);
    lab_expect(t, out->status[dead] == 9, "rank %d should have been killed (status %#x)", dead,
               out->status[dead]);
    for (int r = 0; r < ranks; r++) {
        const struct rank_out *k = &out->rank[r];
        if (r == dead)
            continue;
        lab_expect(t, out->status[r] == 0, "rank %d ended with status %#x", r, out->status[r]);
        int rc = k->put_rc ? k->put_rc : k->take_rc ? k->take_rc : k->close_rc;
        lab_expect(t, rc == LAB_EPEER,
                   "rank %d was killed; rank %d got %d (%s) from ring_put, ring_take and "
                   "ipc_close, expected LAB_EPEER",
                   dead, r, rc, rc_name(rc));
        expect_rc(t, "ipc_close after a rank was killed", k->close_rc, LAB_EPEER);
        /* later, its stream may wait for the dead one's work, and then nothing can be freed */
        lab_expect(t, round > 0 || k->freed,
                   "rank %d was killed; rank %d's ipc_close has not freed what is its own: it is "
                   "given back all the same",
                   dead, r);
        /* as much as a busy machine may take, and less than peers wait for a silent one */
        lab_expect(t, k->seconds < PEERS_WAIT_MS / 1e3 - 1,
                   "rank %d was killed; rank %d needed %.1f s to find out, at most %g are allowed: "
                   "a closed socket says so at once",
                   dead, r, k->seconds, PEERS_WAIT_MS / 1e3 - 1);
    }
}

static inline const struct hear_out *hear(struct lab_test *t, int how, int wait_ms)
{
    struct hear_in in = {how, wait_ms};
    return lab_output(lab_run(t, "hear", &in, sizeof in, sizeof(struct hear_out)));
}

#endif

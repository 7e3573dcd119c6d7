/* SPDX-License-Identifier: MIT
 * public.c: lab 05's public tests.
 */
#include "failures.h"

static void check_export(struct lab_test *t)
{
    const uint64_t offset[] = {0, 4, 12345, 5 * GIB + 4};
    for (int i = 0; i < 4; i++) {
        struct handle_in in = {.offset = offset[i], .bytes = i == 1 ? 1 : 1000};
        struct lab_run *run = run_handle(t, &in);
        const struct handle_out *out = lab_output(run);
        expect_rc(t, "ipc_export", out->export_rc, LAB_OK);
        expect_clear(t, "ipc_export", out->export_last);
        lab_expect(t, out->handle_ok && out->export_opens == 0,
                   "wire.handle is not what cudaIpcGetMemHandle gives");
        expect_opened(t, run, "ipc_export: the test's own two imports, and wire.handle once more,",
                      3);
        lab_expect(t, out->offset == offset[i],
                   "wire.offset is %llu, expected %llu: a handle opens at its allocation's "
                   "beginning, so the offset must travel too",
                   (unsigned long long)out->offset, (unsigned long long)offset[i]);
        lab_expect(t, out->bytes == in.bytes, "wire.bytes is %llu, expected %llu",
                   (unsigned long long)out->bytes, (unsigned long long)in.bytes);
        lab_nothing_leaked(t, run);
    }
}

/* Each call of CUDA that ipc_export, or ipc_events, makes fails once. */
static void refuse_calls(struct lab_test *t, int events)
{
    struct refused_in in = {.events = events};
    if (!lab_is_virtual(t))
        return;
    struct lab_run *run = lab_run(t, "refused", &in, sizeof in, sizeof(struct lab_refusals));
    const struct lab_refusals *told = lab_output(run);
    for (int i = 0; i < told->calls && i < LAB_REFUSALS; i++)
        lab_expect(t, told->of[i].wrote != 2,
                   "ipc_events(&events), in which a call of %.39s fails, passed event_drop a value "
                   "that is not an event, expected events that were made or NULL: that variable "
                   "was not set yet",
                   told->of[i].name);
    lab_expect_refused(t, events ? "ipc_events(&events)" : "ipc_export(base, 64, 1000, &wire)",
                       told, -1);
    lab_refused_leaked_nothing(t, run);
}

static void refuse_export(struct lab_test *t, int odd, const char *call, int want)
{
    struct handle_in in = {.odd = odd, .bytes = 1000};
    const struct handle_out *out = lab_output(run_handle(t, &in));
    expect_rc(t, call, out->export_rc, want);
    expect_clear(t, call, out->export_last);
    lab_expect(t, out->export_untouched, "%s failed and wrote *wire", call);
}

static void check_export_bad(struct lab_test *t)
{
    refuse_export(t, ODD_NULL, "ipc_export(NULL, 0, 1000, &wire)", LAB_EINVAL);
    refuse_export(t, ODD_ZERO, "ipc_export of 0 bytes", LAB_EINVAL);
    refuse_export(t, ODD_NO_OUT, "ipc_export(base, 0, 1000, NULL)", LAB_EINVAL);
    refuse_export(t, ODD_HOST, "ipc_export of host memory", LAB_ECUDA);
    refuse_calls(t, 0);
}

static void check_import_of(struct lab_test *t, const struct handle_in *in)
{
    struct lab_run *run = run_handle(t, in);
    const struct handle_out *out = lab_output(run);
    expect_rc(t,
              in->last ? "ipc_import by a process whose current GPU is the exporter's"
                       : "ipc_import in another process",
              out->import_rc, LAB_OK);
    lab_expect(t, out->seen == IO_VALUE,
               "%llu bytes into the allocation the importer reads %d, expected %d: ptr is base "
               "+ offset",
               (unsigned long long)in->offset, out->seen, IO_VALUE);
    lab_expect(t, out->seen_again == IO_VALUE,
               "opened once more, after it was closed, the importer reads %d there, expected "
               "%d: an address is good until it is closed; open each handle anew",
               out->seen_again, IO_VALUE);
    lab_expect(t, out->import_bytes_ok, "remote.bytes is not %d", (int)in->bytes);
    lab_expect(t, out->base_closes,
               "remote.base cannot be closed: it is what cudaIpcOpenMemHandle gave");
    expect_opened(t, run, "ipc_import twice", 2);
    lab_nothing_leaked(t, run);
}

static void check_import(struct lab_test *t)
{
    const uint64_t offset[] = {0, 4, 12344, 5 * GIB + 4};
    for (int i = 0; i < 4; i++) {
        struct handle_in in = {.offset = offset[i], .bytes = i == 1 ? 1 : 1000};
        check_import_of(t, &in);
    }
    if (!lab_is_virtual(t))
        return;
    lab_node(t, "pcie-4090-2"); /* GPU 0 cannot reach GPU 1, which is current in both processes */
    struct handle_in in = {.last = 1, .offset = 12344, .bytes = 77};
    check_import_of(t, &in);
}

static void refuse_import(struct lab_test *t, int odd, const char *call, int want)
{
    struct handle_in in = {.odd = odd, .bytes = 1000};
    const struct handle_out *out = lab_output(run_handle(t, &in));
    expect_rc(t, call, out->import_rc, want);
    expect_clear(t, call, out->import_last);
    lab_expect(t, out->import_untouched, "%s failed and wrote *remote", call);
}

static void check_import_bad(struct lab_test *t)
{
    refuse_import(t, ODD_NULL, "ipc_import(NULL, &remote)", LAB_EINVAL);
    refuse_import(t, ODD_NO_OUT, "ipc_import(&wire, NULL)", LAB_EINVAL);
    refuse_import(t, ODD_ZERO, "ipc_import of 0 bytes", LAB_EINVAL);
    refuse_import(t, ODD_STALE, "ipc_import of a handle that no process made,", LAB_ECUDA);
    refuse_import(
        t, ODD_SAME_PROCESS,
        "ipc_import in the exporting process (a thread is not another process: CUDA returns 201)",
        LAB_ECUDA);
}

static void check_events(struct lab_test *t)
{
    struct handle_in in = {.bytes = 1000};
    struct lab_run *run = run_handle(t, &in);
    const struct handle_out *out = lab_output(run);
    lab_expect(
        t, out->events_rc == LAB_OK,
        "ipc_events(&events) returned %d (%s), expected LAB_OK: an event for other processes "
        "has both flags, cudaEventInterprocess and cudaEventDisableTiming; without the first "
        "it has no handle, without the second it is not made",
        out->events_rc, rc_name(out->events_rc));
    expect_rc(t, "ipc_events(NULL)", out->events_null_rc, LAB_EINVAL);
    expect_clear(t, "ipc_events", out->events_last);
    for (int i = 0; i < 2; i++)
        lab_expect(t, out->events_open[i] == 0,
                   "another process cannot open event %d (error %d): both flags, "
                   "cudaEventInterprocess and cudaEventDisableTiming, and a handle of each",
                   i, out->events_open[i]);
    const struct lab_witness *w = lab_witness(run);
    lab_expect(t, !w || w->ipc_events_opened >= 2,
               "ipc_events: the node saw another process open %u events, expected 2: they were not "
               "really shared",
               w ? w->ipc_events_opened : 0);
    lab_nothing_leaked(t, run);
    refuse_calls(t, 1);
    if (!lab_is_virtual(t)) /* real GPUs do not fail when they are asked to */
        return;
    for (int i = 0; i < 2; i++) {
        lab_fault(t, i ? "event:2" : "event:1");
        run = run_handle(t, &in);
        out = lab_output(run);
        lab_expect(t, out->events_rc != LAB_OK,
                   "ipc_events returned LAB_OK, but its %s event could not be made",
                   i ? "second" : "first");
        lab_expect(t, out->events_untouched, "ipc_events failed and wrote *events");
        expect_clear(t, "ipc_events, without room for an event,", out->events_last);
        lab_nothing_leaked(t, run);
    }
}

static void check_put(struct lab_test *t)
{
    struct ring_in in = {.ranks = 2, .rounds = 1, .die_rank = -1, .bytes = {BUSY_BYTES}};
    const struct ring_out *out = lab_output(check_ring(t, &in));
    for (int r = 0; r < 2; r++)
        lab_expect_no_wait(
            t, out->rank[r].busy || !lab_is_virtual(t),
            "rank %d: the stream was idle when ring_put came back: it has waited for the "
            "GPU; queue, record, tell, and go on",
            r);
    in.rounds = 6;
    for (int i = 0; i < 6; i++)
        in.bytes[i] = 64 * KIB - (uint64_t)i;
    check_ring(t, &in);
    in.too_large = 1;
    out = lab_output(run_ring(t, &in));
    expect_rc(t, "ring_put of more bytes than the next rank's inbox has", out->rank[0].put_rc,
              LAB_EINVAL);
    check_failures(t, 0);
    const struct refuse_out *no = lab_output(lab_run(t, "refuse", NULL, 0, sizeof *no));
    expect_rc(t, "ring_put(NULL, src, 4)", no->put_null, LAB_EINVAL);
    expect_rc(t, "ring_put of a ring that is all zero", no->put_none, LAB_EINVAL);
}

static void check_take(struct lab_test *t)
{
    struct ring_in in = {.ranks = lab_gpus(t) > 2 ? 3 : 2,
                         .rounds = 5,
                         .die_rank = -1,
                         .bytes = {1, 4099, 100, 32 * KIB, 7}};
    check_ring(t, &in);
    in.rounds = 1;
    in.bytes[0] = 4096;
    in.room = 100;
    struct lab_run *run = run_ring(t, &in);
    const struct ring_out *out = lab_output(run);
    expect_rc(t, "ring_take of 4096 bytes with room for 100", out->rank[0].take_rc, LAB_ERANGE);
}

static void check_refuse(struct lab_test *t)
{
    const struct refuse_out *out = lab_output(lab_run(t, "refuse", NULL, 0, sizeof *out));
    expect_rc(t, "ring_put(NULL, src, 4)", out->put_null, LAB_EINVAL);
    expect_rc(t, "ring_put of a ring that is all zero", out->put_none, LAB_EINVAL);
    expect_rc(t, "ring_take(NULL, ...)", out->take_null, LAB_EINVAL);
    expect_rc(t, "ring_take of a ring that is all zero", out->take_none, LAB_EINVAL);
    check_failures(t, 1);
    check_far_take(t);
}

static void check_close(struct lab_test *t)
{
    check_close_of(t, 2);
    check_close_idle(t, 3);
    const struct refuse_out *out = lab_output(lab_run(t, "refuse", NULL, 0, sizeof *out));
    expect_rc(t, "ipc_close(NULL)", out->close_null, LAB_EINVAL);
    expect_rc(t, "ipc_close of a ring that is all zero", out->close_none, LAB_OK);
    check_reopened(t, 2);
    check_death(t, 2, 1, 0);
}

static void check_hear(struct lab_test *t)
{
    static const char *const calls[] = {
        "peer_hear", "peer_hear of a late message",
        "peer_hear of the last message of a peer that has ended since"};
    for (int how = HEAR_SAID; how <= HEAR_LAST; how++) {
        const struct hear_out *out = hear(t, how, 5000);
        lab_expect(t, out->rc == LAB_OK, "%s returned %d (%s), expected LAB_OK%s", calls[how],
                   out->rc, rc_name(out->rc),
                   how == HEAR_LAST ? ": what it sent before it ended can still be read" : "");
        lab_expect(t, out->number == LARGE_NUMBER, "%s gave %#llx, expected %#llx", calls[how],
                   (unsigned long long)out->number, (unsigned long long)LARGE_NUMBER);
        lab_expect(t, out->left == 0,
                   "%s left %d bytes of the message in the socket, expected 0: the next call reads "
                   "it once more",
                   calls[how], out->left);
    }
    expect_rc(t, "peer_hear while a signal comes", hear(t, HEAR_SIGNAL, 5000)->rc, LAB_OK);
    expect_rc(t, "peer_hear(fd, 5000, NULL)", hear(t, HEAR_NULL, 5000)->rc, LAB_EINVAL);
}

static void check_hear_nobody(struct lab_test *t)
{
    const struct hear_out *out = hear(t, HEAR_GONE, 5000);
    expect_rc(t, "peer_hear when the other side has gone", out->rc, LAB_EPEER);
    lab_expect(t, out->untouched, "peer_hear failed and wrote *number");
    lab_expect(t, out->seconds < 2, "peer_hear took %.1f s to find that the other side has gone",
               out->seconds);
    out = hear(t, HEAR_SILENT, 200);
    expect_rc(t, "peer_hear with a limit of 200 ms and a peer that sends nothing", out->rc,
              LAB_EPEER);
    lab_expect(t, out->seconds < 3, "peer_hear took %.1f s to give up, its limit was 0.2",
               out->seconds);
    lab_expect(t, out->seconds > 0.1, "peer_hear gave up after %.3f s, its limit was 0.2",
               out->seconds);
    out = hear(t, HEAR_INTERRUPTED, 200);
    expect_rc(t, "peer_hear with a limit of 200 ms, a signal, and a peer that sends nothing",
              out->rc, LAB_EPEER);
}

static void check_dead(struct lab_test *t)
{
    check_death(t, 2, 1, 0);
    check_death(t, 3, 0, 2);
}

static void check_together(struct lab_test *t)
{
    struct ring_in in = {.ranks = 4, .rounds = 4, .die_rank = -1, .bytes = {1, 999, 64 * KIB, 5}};
    check_ring(t, &in);
}

#define ORDER                                                                                      \
    "record, then tell: a stream does not wait for an event that is not recorded yet, and no "     \
    "stream reaches into another process"

LAB_CASES = {
    {.name = "export",
     .todo = 1,
     .title = "ipc_export: the allocation's handle, and the offset in it",
     .rule = "cudaIpcGetMemHandle gives the same handle for every pointer into an allocation",
     .about = "wire.handle",
     .points = 7,
     .quick = true,
     .min_gpus = 1,
     .check = check_export},
    {.name = "export_bad",
     .todo = 1,
     .title = "ipc_export refuses, and the last error is clear",
     .points = 4,
     .min_gpus = 1,
     .check = check_export_bad},
    {.name = "import",
     .todo = 2,
     .title = "ipc_import finds the part that was exported",
     .rule = "the handle opens at its allocation's beginning",
     .about = "importer reads",
     .points = 7,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 2,
     .also_on = "dgx-h100",
     .check = check_import},
    {.name = "import_bad",
     .todo = 2,
     .title = "ipc_import refuses, in the exporting process too",
     .points = 4,
     .min_gpus = 1,
     .check = check_import_bad},
    {.name = "events",
     .todo = 3,
     .title = "ipc_events: two events that other processes can open",
     .rule = "cudaEventInterprocess works with cudaEventDisableTiming only",
     .about = "cannot open event",
     .points = 9,
     .quick = true,
     .min_gpus = 1,
     .check = check_events},
    {.name = "put",
     .todo = 4,
     .title = "ring_put: every byte, and never into an inbox that is not drained",
     .rule = ORDER,
     .about = "told the neighbour",
     .points = 12,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_put},
    {.name = "take",
     .todo = 5,
     .title = "ring_take: what the previous rank has put there, and not too early",
     .rule = ORDER,
     .about = "told the neighbour",
     .points = 11,
     .quick = true,
     .min_gpus = 1,
     .wants_gpus = 3,
     .check = check_take},
    {.name = "put_take_bad",
     .todo = 5,
     .title = "ring_put and ring_take refuse bad arguments, and send no message when they fail",
     .points = 3,
     .min_gpus = 1,
     .check = check_refuse},
    {.name = "close",
     .todo = 6,
     .title = "ipc_close: close, barrier, free",
     .rule = "memory may be freed only when no other process has it open any more",
     .points = 11,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_close},
    {.name = "hear",
     .todo = 7,
     .title = "peer_hear waits for a message, early, late or during a signal",
     .points = 5,
     .quick = true,
     .check = check_hear},
    {.name = "hear_nobody",
     .todo = 7,
     .title = "peer_hear returns LAB_EPEER if the other process has ended or sends nothing",
     .points = 5,
     .check = check_hear_nobody},
    {.name = "dead",
     .todo = 7,
     .title = "if a rank is killed, all others get LAB_EPEER and do not hang",
     .rule = "the sockets of a dead process are closed, and poll and recv tell you",
     .points = 6,
     .min_gpus = 1,
     .wants_gpus = 4,
     .check = check_dead},
    {.name = "together",
     .title = "four ranks, all functions yours",
     .points = 4,
     .min_gpus = 1,
     .wants_gpus = 4,
     .no_memcheck = true,
     .check = check_together},
    {0},
};

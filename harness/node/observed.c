/* SPDX-License-Identifier: MIT
 * observed.c: converts the node's summary and trace of a run into the witness's tables.
 */
#include "connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RECORDS (1u << 20) /* of a trace: the node's own limit */

/* Copies the body of a reply, which is not aligned. */
static int read_summary(const union node_answer *from, struct vgpu_summary *to)
{
    if (from->reply.error != 0 || from->reply.data_bytes < sizeof *to)
        return -1;
    memcpy(to, from->reply.data, sizeof *to);
    return 0;
}

int lab__node_progress(struct lab_node *node, double seconds, uint64_t *progress, char *waiting,
                       size_t room)
{
    union node_answer to;
    struct vgpu_summary summary;
    if (!node->asked && lab__node_ask(node, VGPU_OP_SUMMARY, 0) != 0)
        return 0;
    int rc = lab__node_answer(node, &to, seconds);
    node->asked = rc == 1;
    if (rc != 0 || read_summary(&to, &summary) != 0)
        return 0;
    *progress = summary.progress;
    if (room > 0)
        snprintf(waiting, room, "%.*s", (int)sizeof summary.waiting, summary.waiting);
    return 1;
}

static void copy_summary(struct lab_witness *to, const struct vgpu_summary *from)
{
    *to = (struct lab_witness){
        .live_allocations = from->live_allocations,
        .live_host_allocations = from->live_host_allocations,
        .live_streams = from->live_streams,
        .live_events = from->live_events,
        .live_peers = from->live_peers,
        .live_mappings = from->live_mappings,
        .live_ranges = from->live_ranges,
        .mallocs = from->mallocs,
        .host_allocs = from->host_allocs,
        .streams = from->streams,
        .events = from->events,
        .launches = from->launches,
        .copies = from->copies,
        .memsets = from->memsets,
        .syncs = from->syncs,
        .peers_enabled = from->peers_enabled,
        .peers_most = from->peers_most,
        .completion_checks = from->completion_checks,
        .processes = from->processes,
        .clocks_set_back = from->clocks_set_back,
        .unpaid = from->unpaid,
        .ipc_opened = from->ipc_opened,
        .ipc_events_opened = from->ipc_events_opened,
        .faults = from->faults,
        .sticky = from->sticky,
        .now_ps = from->now_ps,
        .printed_bytes = from->printed_bytes,
        .choices = from->choices,
    };
    _Static_assert(LAB_MAX_GPUS == VGPU_MAX_DEVICES, "the tables have the same shape");
    memcpy(to->peak_bytes, from->peak_bytes, sizeof to->peak_bytes);
    memcpy(to->peak_asked_bytes, from->peak_asked_bytes, sizeof to->peak_asked_bytes);
    memcpy(to->copied, from->copied, sizeof to->copied);
    memcpy(to->kernel_bytes, from->kernel_bytes, sizeof to->kernel_bytes);
}

static void copy_record(struct lab_record *to, const struct vgpu_trace_record *from)
{
    *to = (struct lab_record){
        .kind = from->kind == VGPU_TRACE_COPY     ? LAB_COPY
                : from->kind == VGPU_TRACE_KERNEL ? LAB_KERNEL
                : from->kind == VGPU_TRACE_CALL   ? LAB_ELAPSED
                                                  : LAB_MEMSET,
        .gpu = from->device,
        .from = from->from,
        .to = from->to,
        .stream = from->stream,
        .bytes = from->bytes,
        .far_bytes = from->far_bytes,
        .issue_ps = from->issue_ps,
        .start_ps = from->start_ps,
        .end_ps = from->end_ps,
        .atomics = from->atomics,
        .barriers = from->barriers,
        .shared_accesses = from->shared_accesses,
        .shuffles = from->shuffles,
        .threads = from->threads,
        .busiest = from->busiest,
        .argument = from->argument,
        .fault_at = from->fault_at,
        .fault_of = from->fault_of,
        .faulted = from->faulted == VGPU_FAULT_ADDRESS,
    };
    snprintf(to->name, sizeof to->name, "%.*s", (int)sizeof from->name - 1, from->name);
}

/* Unordered accesses, and reads of what was not there yet; other mistakes in kernels are no race.
 */
static bool tells_race(const char *name)
{
    static const char *const codes[] = {
        "order.",        "kernels.shared-race", "kernels.warp-race", "kernels.block-race",
        "kernels.scope", "kernels.grid-race",   "kernels.unwritten"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strncmp(name, codes[i], strlen(codes[i])) == 0)
            return true;
    return false;
}

/* Findings of other kinds (an access out of bounds) have no code with a dot in it. */
static void take_finding(struct lab_witness *w, const struct vgpu_trace_record *from)
{
    const char *name = from->name, *dot = memchr(name, '.', sizeof from->name);
    bool ours = dot && (strncmp(name, "kernels.", 8) == 0 || strncmp(name, "order.", 6) == 0);
    w->raced |= tells_race(name);
    if (!w->finding[0] && ours)
        snprintf(w->finding, sizeof w->finding, "%.*s%s%.*s", (int)sizeof from->name - 1, name,
                 from->site[0] ? " at " : "", (int)sizeof from->site - 1, from->site);
}

static bool is_place(int device)
{
    return device >= LAB_SEALED && device < VGPU_MAX_DEVICES; /* below 0: host memory */
}

/* Whether `set` has bits only for devices and the host. */
static bool is_set_of_places(int set)
{
    return set >= 0 && set < 2 << VGPU_MAX_DEVICES;
}

static bool record_fits(const struct vgpu_trace_record *r)
{
    bool (*fits)(int) = r->kind == VGPU_TRACE_KERNEL ? is_set_of_places : is_place;
    return is_place(r->device) && fits(r->from) && fits(r->to) && is_place(r->fault_of);
}

/* Appends the records of one page of the trace, except findings, which go to w->finding. */
static int take_page(struct lab_witness *w, const uint8_t *page, uint64_t count)
{
    struct vgpu_trace_record record;
    struct lab_record *all = (struct lab_record *)w->records;
    all = realloc(all, (w->record_count + count + 1) * sizeof *all);
    if (!all)
        return -1;
    w->records = all;
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&record, page + i * sizeof record, sizeof record);
        if (!record_fits(&record))
            return -1;
        if (record.kind == VGPU_TRACE_FINDING)
            take_finding(w, &record);
        else
            copy_record(&all[w->record_count++], &record);
    }
    return 0;
}

static int read_trace(struct lab_node *node, struct lab_witness *w)
{
    union node_answer to;
    for (uint64_t first = 0, total = 1; first < total;) {
        if (lab__node_ask(node, VGPU_OP_TRACE, first) != 0 ||
            lab__node_answer(node, &to, ANSWER_SECONDS) != 0 || to.reply.error != 0)
            return -1;
        uint64_t count = to.reply.value;
        total = to.reply.value2;
        if (count == 0)
            return first >= total ? 0 : -1;
        if (count > sizeof to / sizeof(struct vgpu_trace_record) || total > MOST_RECORDS ||
            to.reply.data_bytes < count * sizeof(struct vgpu_trace_record) ||
            take_page(w, to.reply.data, count) != 0) {
            node->nonsense = true;
            return -1;
        }
        first += count;
    }
    return 0;
}

struct lab_witness *lab__node_witness(struct lab_node *node, char *error, size_t room)
{
    union node_answer to;
    struct vgpu_summary summary;
    if (node->asked && lab__node_answer(node, &to, ANSWER_SECONDS) != 0) {
        lab__node_error(error, room, "vgpu-node", "it has ended, or does not answer any more");
        return NULL;
    }
    node->asked = false;
    if (lab__node_ask(node, VGPU_OP_SUMMARY, 0) != 0 ||
        lab__node_answer(node, &to, ANSWER_SECONDS) != 0 || read_summary(&to, &summary) != 0) {
        lab__node_error(error, room, "vgpu-node",
                        "no summary came: it has ended, or does not answer any more");
        return NULL;
    }
    struct lab_witness *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    copy_summary(w, &summary);
    snprintf(w->unsteady, sizeof w->unsteady, "%.*s", (int)sizeof w->unsteady - 1,
             to.reply.explain);
    snprintf(node->fault, sizeof node->fault, "%.*s", (int)sizeof node->fault - 1,
             summary.last_fault);
    if (read_trace(node, w) == 0)
        return w;
    lab__node_error(error, room, "vgpu-node", "its trace could not be read");
    free((void *)w->records);
    free(w);
    return NULL;
}

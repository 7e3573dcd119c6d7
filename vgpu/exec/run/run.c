/* SPDX-License-Identifier: MIT
 * run.c: a kernel launch, from the request to the reply.
 *
 * Several can be in progress: a stalled one keeps its blocks and stacks until it is resumed or
 * aborted, and others run meanwhile.
 */
#include "block.h"
#include "counters.h"
#include "device_image.h"
#include "exec.h"
#include "fault.h"
#include "fiber.h"
#include "footprint.h"
#include "grid.h"
#include "hazard.h"
#include "lane_run.h"
#include "mapped_memory.h"
#include "message.h"
#include "occupancy.h"
#include "polling.h"
#include "print.h"
#include "race.h"
#include "run.h"
#include "sample.h"
#include "schedule.h"
#include "block_schedule.h"
#include "weak.h"
#include "worker_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Arguments lie in the stacks' window, which device code may read: one slot per run. */
enum { ARG_SLOTS = 64, ARG_SLOT_BYTES = 64 << 10, ARG_ALIGN = 64, PRINT_PIECE = 3584 };
_Static_assert(sizeof(struct vgpu_exec_reply) + PRINT_PIECE <= VGPU_MSG_MAX, "a piece fits");

static struct run *runs;
static uint64_t arg_slots_used;

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* A step that is coprime to the number of clusters (a block is one of its own) visits each once. */
static void choose_block_order(struct run *run)
{
    static uint64_t luck;
    if (!luck)
        luck = vgpu_schedule();
    uint64_t count = run->block_count / run->cluster_blocks;
    if (!luck || count < 2)
        return;
    do
        run->block_step = 1 + vgpu_schedule_next(&luck) % (count - 1);
    while (common_divisor(run->block_step, count) != 1);
    run->block_first = vgpu_schedule_next(&luck) % count;
}

static uint64_t cluster_at(const struct run *run, uint64_t turn)
{
    if (!run->block_step)
        return turn;
    unsigned __int128 at = (unsigned __int128)turn * run->block_step + run->block_first;
    return (uint64_t)(at % (run->block_count / run->cluster_blocks));
}

uint64_t run_block_at(const struct run *run, uint64_t turn)
{
    uint32_t blocks = run->cluster_blocks;
    uint64_t at = cluster_at(run, turn / blocks);
    return blocks == 1 ? at : run_cluster_block(run, at, (uint32_t)(turn % blocks));
}

/* ---- from message to run ---- */

static bool map_slot(struct run *run, int slot)
{
    static uint64_t mapped;
    char *at = (char *)(OWN_VA + (uint64_t)slot * ARG_SLOT_BYTES); /* NOLINT */
    if (!(mapped >> slot & 1)) {
        if (mmap(at, ARG_SLOT_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
            return false;
        mapped |= 1ull << slot;
    }
    run->arg_slot = slot;
    run->args = (void **)(void *)at;
    return true;
}

static bool take_slot(struct run *run)
{
    if (arg_slots_used == ~0ull || !map_slot(run, __builtin_ctzll(~arg_slots_used)))
        return false;
    arg_slots_used |= 1ull << run->arg_slot;
    return true;
}

/* Lays out the arguments, each at the largest alignment. */
static void place_args(struct run *run, const uint8_t *from)
{
    char *to = (char *)(run->args + VGPU_PARAMS_MAX);
    for (uint32_t i = 0; i < run->kernel->param_count; i++) {
        uint32_t bytes = run->kernel->param_bytes[i];
        memcpy(to, from, bytes);
        run->args[i] = to;
        from += bytes;
        to += (bytes + ARG_ALIGN - 1) / ARG_ALIGN * ARG_ALIGN;
    }
}

void run_pack_args(const struct run *run, uint8_t *to)
{
    for (uint32_t i = 0; i < run->kernel->param_count; i++) {
        memcpy(to, run->args[i], run->kernel->param_bytes[i]);
        to += run->kernel->param_bytes[i];
    }
}

bool run_adopt(struct run *run, const uint8_t *args)
{
    if (!map_slot(run, run->arg_slot))
        return false;
    place_args(run, args);
    return true;
}

/* The number of blocks that the GPU holds at once: at least a cluster, whatever its shared memory.
 */
static uint64_t resident_limit(const struct run *run)
{
    const struct vgpu_exec_limits *limits = &context.limits;
    const struct vgpu_sm sm = {limits->threads_per_sm, limits->blocks_per_sm, limits->shared_per_sm,
                               (int)limits->cc_major};
    uint64_t a_sm = vgpu_blocks_per_sm(&sm, run->block_threads,
                                       run->shared_bytes + run->kernel->static_shared_bytes);
    uint64_t blocks = (a_sm ? a_sm : 1) * limits->sm_count;
    return blocks > run->cluster_blocks ? blocks : run->cluster_blocks;
}

static uint32_t args_bytes(const struct vgpu_kernel *kernel)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < kernel->param_count; i++)
        bytes += kernel->param_bytes[i];
    return bytes;
}

static const char *describe_shapes(void)
{
    static char text[96];
    snprintf(text, sizeof text,
             "blocks of 1 to %d threads and a grid that is not empty are possible",
             MAX_BLOCK_THREADS);
    return text;
}

/* Why a launch is not possible; "" if it is. The node has checked the program's mistakes
 * already. */
static const char *check_run(const struct vgpu_exec_request *request,
                             const struct vgpu_kernel *kernel)
{
    const struct vgpu_launch *l = &request->launch;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    if (!kernel)
        return "no such kernel or module";
    if (threads < 1 || threads > MAX_BLOCK_THREADS || !l->grid[0] || !l->grid[1] || !l->grid[2])
        return describe_shapes();
    if (!vgpu_cluster_fits(l->cluster, l->grid))
        return "clusters of at most 16 blocks, which divide the grid, are possible";
    if (l->shared_bytes > context.limits.shared_per_block)
        return "more dynamic shared memory than a block can have";
    if (kernel->param_count > VGPU_PARAMS_MAX || args_bytes(kernel) > VGPU_ARGS_MAX ||
        args_bytes(kernel) != request->data_bytes)
        return "the arguments' sizes are not the kernel's";
    return "";
}

static struct run *run_make(const struct vgpu_exec_request *request,
                            const struct vgpu_kernel *kernel)
{
    const struct vgpu_launch *l = &request->launch;
    struct run *run = calloc(1, sizeof *run);
    if (!run || !take_slot(run)) {
        free(run);
        return NULL;
    }
    run->id = request->run;
    run->kernel = kernel;
    run->cooperative = l->cooperative != 0;
    run->grid = (struct vgpu_dim3){l->grid[0], l->grid[1], l->grid[2]};
    run->shape = (struct vgpu_dim3){l->block[0], l->block[1], l->block[2]};
    run->block_count = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    run->claimed = run->block_count;
    run->cluster =
        (struct vgpu_dim3){vgpu_cluster_blocks(l->cluster, 0), vgpu_cluster_blocks(l->cluster, 1),
                           vgpu_cluster_blocks(l->cluster, 2)};
    run->cluster_blocks = run->cluster.x * run->cluster.y * run->cluster.z;
    run->block_threads = l->block[0] * l->block[1] * l->block[2];
    run->shared_bytes = (uint32_t)l->shared_bytes;
    run->resident_limit = resident_limit(run);
    run->moved = true;
    run->strict = request->strict;
    run->checks = request->checks;
    choose_block_order(run);
    place_args(run, request->data);
    run->next = runs;
    runs = run;
    sample_begin(run);
    race_run_begins(run);
    if (vgpu_schedule_is_weak())
        weak_run_begins(run, request->weak_slot, request->weak_after);
    return run;
}

void run_count_done(uint64_t blocks)
{
    __atomic_fetch_add(&context.control->blocks_done, blocks, __ATOMIC_RELAXED);
}

static void run_drop(struct run *run)
{
    struct run **link = &runs;
    while (*link != run)
        link = &(*link)->next;
    *link = run->next;
    sample_end(run);
    footprint_free(run);
    while (run->resident)
        block_abandon(run->resident);
    weak_run_ends(run);
    arg_slots_used &= ~(1ull << run->arg_slot);
    bool large = run->resident_peak * run->block_threads > STACKS_KEPT;
    print_free(run);
    free(run);
    if (large && !runs)
        stack_trim();
    if (!runs)
        race_forget();
}

/* ---- from run to reply ---- */

static void print_piece(struct run *run, struct vgpu_exec_reply *reply)
{
    reply->run = run->id;
    reply->printf_bytes = reply->data_bytes = print_take(run, (char *)reply->data, PRINT_PIECE);
}

/* The reply itself carries the last piece of the output. */
static void attach_print(struct run *run, struct vgpu_exec_reply *reply)
{
    while (print_waiting(run) > PRINT_PIECE) {
        struct vgpu_exec_reply *piece = message_piece();
        print_piece(run, piece);
        message_send(piece);
    }
    print_piece(run, reply);
}

static void reply_fault(struct vgpu_exec_reply *reply)
{
    const struct fault *fault = &fault_last;
    reply->status = VGPU_FAULTED;
    reply->fault.kind = fault->kind;
    reply->fault.write = fault->write;
    reply->fault.idle = fault->idle;
    reply->fault.address = fault->address;
    memcpy(reply->fault.where, fault->where, sizeof reply->fault.where);
    snprintf(reply->text, sizeof reply->text, "%s", fault->text);
    if (!now.thread)
        return;
    struct vgpu_dim3 t = now.thread->idx, b = now.thread->block->idx;
    reply->fault.thread.x = t.x, reply->fault.thread.y = t.y, reply->fault.thread.z = t.z;
    reply->fault.block.x = b.x, reply->fault.block.y = b.y, reply->fault.block.z = b.z;
}

static void execute_part(void *reply)
{
    struct vgpu_exec_reply *r = reply;
    r->status = (int32_t)schedule_blocks(now.run, r->text, sizeof r->text);
}

void run_blocks(struct run *run, struct vgpu_exec_reply *reply)
{
    memory_review();
    now = (struct now){.run = run};
    access_wide = 0;
    race_run_goes(run);
    footprint_begin(run);
    weak_run_goes(run);
    lanes_begin(run);
    if (fault_guard(execute_part, reply))
        reply_fault(reply);
    poll_suspect(false);
    weak_run_stops();
    memory_deliver_torn();
    race_run_stops();
    now = (struct now){0};
    access_harvest(&run->counts);
}

static void run_go(struct run *run, struct vgpu_exec_reply *reply)
{
    run->signals = (struct vgpu_signals){0};
    run_blocks(run, reply);
    workers_join(run, reply);
    footprint_end(run);
    sample_apply(run, &run->counts);
    run->counts.blocks_fit = run->resident_limit / context.limits.sm_count;
    reply->counts = run->counts;
    reply->signals = run->signals;
    reply->moved = run->moved;
    const char *why = run->lanes.careful ? run->lanes.careful : run->lanes.refused;
    snprintf(reply->careful, sizeof reply->careful, "%s", why ? why : "");
    if (reply->status == VGPU_STALLED) {
        reply->blocks_left = run->block_count - run->next_block;
        reply->blocks_fit = run->resident_limit;
    }
    if (reply->status == VGPU_RAN)
        snprintf(reply->text, sizeof reply->text, "%s", run->findings.text);
    reply->stray_count = run->strays.count;
    memcpy(reply->stray, run->strays.list, sizeof run->strays.list);
    hazard_reply(run, reply);
    attach_print(run, reply);
    if (reply->status == VGPU_RAN)
        footprint_send(run);
    if (reply->status != VGPU_STALLED)
        run_drop(run);
}

/* ---- may other processes run blocks, too ---- */

/* Which allocation the parameter points to; VGPU_POINTED: unknown. */
static int pointed_by(const struct run *run, uint32_t param,
                      const struct vgpu_pointed pointed[VGPU_POINTED])
{
    uint64_t value = 0;
    int i = 0;
    if (param >= run->kernel->param_count || run->kernel->param_bytes[param] != sizeof value)
        return VGPU_POINTED;
    memcpy(&value, run->args[param], sizeof value);
    while (i < VGPU_POINTED && (value < pointed[i].first || value >= pointed[i].end))
        i++;
    return i;
}

/* A bit for each allocation to which these parameters point; VGPU_POINTED's: unknown. */
static uint32_t all_pointed(const struct run *run, uint64_t params,
                            const struct vgpu_pointed pointed[VGPU_POINTED])
{
    uint32_t found = 0;
    for (; params; params &= params - 1)
        found |= 1u << pointed_by(run, (uint32_t)__builtin_ctzll(params), pointed);
    return found;
}

/* Whether the kernel's sums (vgpu_kernel.summed) are in memory with which it does nothing else. */
static bool sums_are_apart(const struct run *run, const struct vgpu_pointed pointed[VGPU_POINTED])
{
    const struct vgpu_kernel *kernel = run->kernel;
    uint32_t summed = all_pointed(run, kernel->summed, pointed);
    uint32_t others = all_pointed(run, kernel->others, pointed);
    return summed && !((summed | others) >> VGPU_POINTED) && !(summed & others);
}

static bool run_may_share(const struct run *run, const struct vgpu_exec_request *request)
{
    bool any_order =
        run->kernel->any_order || (!run->block_step && sums_are_apart(run, request->pointed));
    return any_order && run->cluster_blocks == 1 && !(run->checks & VGPU_CHECK_KERNELS) &&
           !run->weak;
}

void run_start(const struct vgpu_exec_request *request, struct vgpu_exec_reply *reply)
{
    const struct device_image *image =
        image_find(request->module ? request->module : request->launch.module);
    const struct vgpu_kernel *kernel = image ? image_kernel(image, request->launch.kernel) : NULL;
    const char *why = check_run(request, kernel);
    struct run *run = *why ? NULL : run_make(request, kernel);
    if (run) {
        run->may_share = run_may_share(run, request);
        run_go(run, reply);
        return;
    }
    reply->status = VGPU_REFUSED;
    snprintf(
        reply->text, sizeof reply->text,
        "launch of kernel %u of module %u (%s), grid (%u,%u,%u), block (%u,%u,%u), %u bytes of "
        "arguments: %s",
        request->launch.kernel, request->launch.module, kernel ? kernel->name : "?",
        request->launch.grid[0], request->launch.grid[1], request->launch.grid[2],
        request->launch.block[0], request->launch.block[1], request->launch.block[2],
        request->data_bytes, *why ? why : "no memory, or 64 kernels stalled already");
}

static struct run *find_stalled(uint64_t id, struct vgpu_exec_reply *reply)
{
    struct run *run = runs;
    while (run && run->id != id)
        run = run->next;
    if (!run) {
        reply->status = VGPU_REFUSED;
        snprintf(reply->text, sizeof reply->text, "no kernel is stalled under the id %llu",
                 (unsigned long long)id);
    }
    return run;
}

void run_resume(uint64_t id, struct vgpu_exec_reply *reply)
{
    struct run *run = find_stalled(id, reply);
    if (!run)
        return;
    uint64_t events = run->events;
    run->moved = false;
    run->stirred = false;
    now.run = run;
    run_go(run, reply);
    if (reply->status != VGPU_STALLED)
        return;
    if (run->events != events)
        reply->moved = true;
    run->idle_resumes = run->events != events ? 0 : run->idle_resumes + 1;
}

void run_abort(uint64_t id, struct vgpu_exec_reply *reply)
{
    struct run *run = find_stalled(id, reply);
    if (!run)
        return;
    run_drop(run);
    reply->status = VGPU_OK;
}

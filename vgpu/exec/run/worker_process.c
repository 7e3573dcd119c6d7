/* SPDX-License-Identifier: MIT
 * worker_process.c: see worker_process.h.
 *
 * Shared memory has the run, the next unclaimed block, the lowest block that faulted, and each
 * worker's part of the result. Blocks before a fault are still run to their end by the process that
 * claimed them, so that the reported fault is the one that a single processor would have met first.
 *
 * A worker waits at a pipe. It is asked by a byte, and takes part only if it still finds itself
 * ASKED: where other programs keep its processor busy, the blocks are run without it. What has been
 * mapped and unmapped since it was forked is logged, and it does the same before it runs a block.
 */
#include "worker_process.h"

#include "bounds.h"
#include "counters.h"
#include "fiber.h"
#include "finding.h"
#include "mapped_memory.h"
#include "kernel_timeout.h"
#include "memory_signals.h"
#include "run.h"
#include "sample.h"
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 31, TICK_MS = 200, IDLE_MS = 5000, LOG_MAX = 64 };
/* A run that took this long gets workers: forking them costs a tenth of it, or asking them. With
 * VGPU_WORKERS=always:4 every run gets them that may have them. */
#define WORTH_FORKS_S 2e-3
#define WORTH_ASKING_S 2e-4

enum worker_state { WORKER_IDLE, WORKER_ASKED, WORKER_RUNS };

struct part {       /* a worker's part of the result */
    uint32_t state; /* enum worker_state; each side changes it by compare and exchange */
    uint64_t at;    /* block that it runs; ~0: none yet */
    bool ended;
    struct vgpu_run_counts counts;
    uint32_t finding_set;
    char findings[VGPU_FINDINGS_TEXT];
    uint32_t stray_count;
    struct vgpu_stray stray[VGPU_STRAYS];
    struct contention contention;
    struct vgpu_signals signals;
    uint64_t stored_by[VGPU_SIGNALS];
    uint8_t reply[sizeof(struct vgpu_exec_reply)]; /* after a fault: the reply */
};

struct share {
    uint64_t next, count; /* blocks: the first unclaimed one, the total */
    uint64_t batch_max;   /* that are claimed at once */
    bool alone;           /* workers claim no more: they did not make the run faster */
    uint64_t fault_block; /* lowest block that faulted; ~0: none */
    uint32_t lock;    /* holder while it commits a chunk: 0 none, 1 the parent, n + 2 worker n */
    uint32_t workers; /* that may take part, with the parent */
    struct run run;
    uint8_t args[VGPU_ARGS_MAX];
    uint32_t logged; /* since there have been workers */
    struct vgpu_exec_request log[LOG_MAX];
    struct part part[WORKERS_MAX];
};

struct worker {
    pid_t pid;       /* 0: there is none */
    int asks, tells; /* ends of two pipes: a byte asks it; a byte tells that its part is done */
    double used;
    uint64_t progress;
};

static struct share *share; /* NULL: there have been no workers */
static bool sharing;        /* several processes may run the current run's blocks */
static struct worker worker[WORKERS_MAX];
static struct part *own_part; /* in a worker: its own part */
static uint32_t worker_count; /* the most that have been there at once */
static uint32_t asked_count;  /* for the current run */
static uint64_t running;      /* block that this process runs */

/* Processors that update the same cache lines wait for each other. So a kernel with sums is
 * watched: workers go on only if blocks end faster than before. */
#define TRIAL_S 10e-3
#define WORTH_SHARING 1.15
static struct trial {
    bool runs;
    double since, rate; /* rate: blocks a second before that */
    uint64_t done;      /* control.blocks_done at that time */
} trial;

static double clock_seconds(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + (double)t.tv_nsec * 1e-9 : 0;
}

/* ---- how many workers ---- */

/* Number of usable processors, including this one; VGPU_WORKERS overrides it. */
static uint32_t processor_count(void)
{
    static uint32_t known;
    if (known)
        return known;
    uint64_t count = (uint64_t)__builtin_popcountll(context.limits.cpus);
    vgpu_workers(&count);
    known = count < 1 ? 1 : count > WORKERS_MAX + 1 ? WORKERS_MAX + 1 : (uint32_t)count;
    return known;
}

/* The seconds after which a run gets workers. */
static double worth_seconds(void)
{
    if (vgpu_workers_always())
        return 0;
    return worker_count && worker[0].pid ? WORTH_ASKING_S : WORTH_FORKS_S;
}

/* Pins the n-th worker: the node's processors in turn, starting after ours. */
static void move_to_processor(uint32_t n)
{
    cpu_set_t set;
    uint64_t others = context.limits.cpus;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int cpu = 0; cpu < 64; cpu++)
        if (CPU_COUNT(&set) == 1 && CPU_ISSET((size_t)cpu, &set))
            others &= ~(1ull << cpu);
    if (!others)
        return;
    for (n %= (uint32_t)__builtin_popcountll(others); n > 0; n--)
        others &= others - 1;
    CPU_ZERO(&set);
    CPU_SET((size_t)__builtin_ctzll(others), &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* ---- a worker ---- */

static bool change_state(struct part *part, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&part->state, &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/* Waits until it is asked; ends the process if the parent wants no workers, or has had nothing to
 * do for them for a while: each has page tables of its own. */
static void await_byte(int asked)
{
    struct pollfd p = {.fd = asked, .events = POLLIN};
    char byte;
    int ready;
    do
        ready = poll(&p, 1, IDLE_MS);
    while (ready < 0 && errno == EINTR);
    if (ready <= 0 || read(asked, &byte, 1) != 1)
        _exit(0);
}

static bool replay_mappings(uint32_t *replayed)
{
    char why[sizeof((struct vgpu_exec_reply *)0)->text];
    for (; *replayed < share->logged; ++*replayed) {
        const struct vgpu_exec_request *r = &share->log[*replayed];
        if (!(r->op == VGPU_EXEC_MAP ? memory_map(r, why, sizeof why)
                                     : memory_unmap(r->va, r->bytes, why, sizeof why)))
            return false;
    }
    return true;
}

/* Makes a copy of the run its own. */
static bool take_run(struct run *run)
{
    *run = share->run;
    run->claimed = run->next_block = 0;
    run->resident = run->last_resident = NULL;
    run->resident_count = 0;
    run->spans = NULL;
    run->counts = (struct vgpu_run_counts){0};
    contention_begin_part(run);
    findings_clear_text(run);
    bounds_clear(run);
    memset(access_count, 0, sizeof access_count);
    return run_adopt(run, share->args);
}

static void note_fault_signal(uint64_t number)
{
    uint64_t lowest = __atomic_load_n(&share->fault_block, __ATOMIC_RELAXED);
    while (number < lowest &&
           !__atomic_compare_exchange_n(&share->fault_block, &lowest, number, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

static void put_part(const struct run *run, const struct vgpu_exec_reply *reply)
{
    if (reply->status == VGPU_FAULTED)
        note_fault_signal(running);
    own_part->counts = run->counts;
    own_part->finding_set = run->findings.set;
    memcpy(own_part->findings, run->findings.text, sizeof own_part->findings);
    own_part->stray_count = run->strays.count;
    memcpy(own_part->stray, run->strays.list, sizeof own_part->stray);
    own_part->contention = run->contention;
    own_part->signals = run->signals;
    memcpy(own_part->stored_by, run->stored_by, sizeof own_part->stored_by);
    memcpy(own_part->reply, reply, sizeof own_part->reply);
    __atomic_store_n(&own_part->ended, true, __ATOMIC_RELEASE);
}

/* `replayed`: how much had been logged when this process was forked. It may begin to run long after
 * that, when the parent has logged more. */
static _Noreturn void work(uint32_t n, uint32_t replayed, int asked, int done)
{
    static struct run run;
    static struct vgpu_exec_reply reply;
    own_part = &share->part[n];
    memory_share(&share->lock, n + 2);
    move_to_processor(n);
    memory_reopen();
    sample_leave();
    for (;;) {
        await_byte(asked);
        if (!change_state(own_part, WORKER_ASKED, WORKER_RUNS))
            continue; /* too late: the parent has gone on without it */
        memset(&reply, 0, sizeof reply);
        run = (struct run){0};
        bool able = replay_mappings(&replayed) && take_run(&run);
        if (able)
            run_blocks(&run, &reply);
        put_part(&run, &reply); /* an empty one: the others run all blocks */
        change_state(own_part, WORKER_RUNS, WORKER_IDLE);
        if (write(done, "", 1) != 1 || !able)
            _exit(1);
    }
}

/* ---- starting and ending them ---- */

/* In a new worker: ends of other workers' pipes, which would hide that the parent has closed them.
 */
static void close_others(void)
{
    close(3); /* the node's socket */
    for (uint32_t i = 0; i < worker_count; i++)
        if (worker[i].pid) {
            close(worker[i].asks);
            close(worker[i].tells);
        }
}

static bool start_one(uint32_t n)
{
    int ask[2], tell[2];
    pid_t parent = getpid();
    uint32_t logged = share->logged;
    if (pipe2(ask, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    if (pipe2(tell, O_CLOEXEC) != 0) {
        close(ask[0]);
        close(ask[1]);
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(ask[1]);
        close(tell[0]);
        close_others();
        work(n, logged, ask[0], tell[1]);
    }
    close(ask[0]);
    close(tell[1]);
    if (pid < 0) {
        close(ask[1]);
        close(tell[0]);
        return false;
    }
    worker[n] = (struct worker){.pid = pid, .asks = ask[1], .tells = tell[0], .used = -1};
    return true;
}

/* Waits for the end of a worker that has ended, is about to, or is killed. */
static void collect_worker(uint32_t n)
{
    close(worker[n].asks);
    close(worker[n].tells);
    while (waitpid(worker[n].pid, NULL, 0) < 0 && errno == EINTR)
        ;
    worker[n].pid = 0;
    if (share->lock == n + 2) /* killed while it held the lock */
        __atomic_store_n(&share->lock, 0, __ATOMIC_RELEASE);
}

void workers_retire(void)
{
    for (uint32_t n = 0; n < worker_count; n++)
        if (worker[n].pid)
            collect_worker(n);
    if (share)
        share->logged = 0;
}

void workers_log(const struct vgpu_exec_request *request)
{
    bool any = false;
    for (uint32_t n = 0; n < worker_count; n++)
        any |= worker[n].pid != 0;
    if (!any)
        return;
    if (request->fixed || share->logged == LOG_MAX)
        workers_retire();
    else
        share->log[share->logged++] = *request;
}

/* ---- asking them ---- */

static bool ask_worker(uint32_t n)
{
    struct part *part = &share->part[n];
    part->at = ~0ull;
    part->ended = false;
    __atomic_store_n(&part->state, WORKER_ASKED, __ATOMIC_RELEASE);
    worker[n].used = -1;
    if (worker[n].pid && write(worker[n].asks, "", 1) != 1 && errno == EPIPE)
        collect_worker(
            n); /* it has ended for want of work; a full pipe (EAGAIN) has bytes enough */
    if (worker[n].pid)
        return true;
    return start_one(n) && write(worker[n].asks, "", 1) == 1;
}

static bool share_ready(void)
{
    if (share)
        return true;
    void *p = mmap(NULL, sizeof *share, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    share = p == MAP_FAILED ? NULL : p;
    return share;
}

static uint64_t ended_blocks(void)
{
    return __atomic_load_n(&context.control->blocks_done, __ATOMIC_RELAXED);
}

static void begin_trial(const struct run *run, double now_s)
{
    double rate = (double)(run->next_block - run->first_timed) / (now_s - run->started);
    trial = (struct trial){run->kernel->summed != 0, now_s, rate, ended_blocks()};
    share->batch_max = trial.runs ? run->next_block : ~0ull;
    share->alone = false;
}

static void judge_trial(void)
{
    double took = clock_seconds(CLOCK_MONOTONIC) - trial.since;
    if (took < TRIAL_S)
        return;
    bool pays = (double)(ended_blocks() - trial.done) > WORTH_SHARING * trial.rate * took;
    __atomic_store_n(&share->alone, !pays, __ATOMIC_RELAXED);
    trial.runs = false;
}

static void start_workers(struct run *run, double now_s)
{
    run->due = 0;
    if (!share_ready())
        return;
    share->next = run->next_block;
    share->count = run->block_count;
    begin_trial(run, now_s);
    share->fault_block = ~0ull;
    share->workers = processor_count();
    share->run = *run;
    run_pack_args(run, share->args);
    memory_share(&share->lock, 1);
    run->claimed = run->next_block;
    sharing = true;
    for (asked_count = 0; asked_count < share->workers - 1; asked_count++) {
        if (!ask_worker(asked_count))
            break; /* no more processes */
        worker_count = asked_count < worker_count ? worker_count : asked_count + 1;
    }
}

/* At blocks 0, 1, 2, 4, 8, 16 and then every 16: few blocks may take long, and many little. */
static bool is_look(uint32_t looks)
{
    return looks % BLOCKS_A_LOOK == 0 || (looks < BLOCKS_A_LOOK && (looks & (looks - 1)) == 0);
}

/* The first two blocks of a kernel with sums are careful (contention_wants), and tell nothing of
 * the time of the others. */
static bool is_timed(const struct run *run)
{
    return !run->kernel->summed || run->next_block >= 2;
}

void workers_consider(struct run *run)
{
    if (!run->may_share || sharing || own_part || !is_look(run->looks++) || !is_timed(run))
        return;
    double now_s = clock_seconds(CLOCK_MONOTONIC);
    double worth_s = worth_seconds();
    bool others = run->next_block + 1 < run->block_count && processor_count() > 1 &&
                  lane_order != LANES_SEEDED;
    if (run->started == 0) {
        run->started = now_s;
        run->first_timed = run->next_block;
        run->due = others && !run->kernel->summed ? now_s + worth_s : 0;
    } else if (others && now_s - run->started > worth_s)
        start_workers(run, now_s);
}

void workers_start_if_due(struct run *run)
{
    double now_s = clock_seconds(CLOCK_MONOTONIC);
    if (!run->resident)
        run->due = 0;
    else if (now_s > run->due)
        start_workers(run, now_s);
}

/* ---- blocks ---- */

bool worker_claim(struct run *run)
{
    if (!sharing && !own_part)
        return false;
    if (!own_part && trial.runs)
        judge_trial();
    if (own_part && __atomic_load_n(&share->alone, __ATOMIC_RELAXED))
        return false;
    uint64_t next = __atomic_load_n(&share->next, __ATOMIC_RELAXED), batch;
    do {
        if (next >= share->count)
            return false;
        batch = (share->count - next) / (2 * share->workers);
        batch = batch < share->batch_max ? batch : share->batch_max;
        batch += batch == 0;
    } while (!__atomic_compare_exchange_n(&share->next, &next, next + batch, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    run->next_block = next;
    run->claimed = next + batch;
    return true;
}

bool worker_starts_block(uint64_t number)
{
    running = number;
    if (!sharing && !own_part)
        return true;
    if (own_part)
        __atomic_store_n(&own_part->at, number, __ATOMIC_RELAXED);
    return number < __atomic_load_n(&share->fault_block, __ATOMIC_RELAXED);
}

/* ---- the end ---- */

/* Whether the worker's result is not needed: its block comes after a fault. */
static bool is_moot(uint32_t n)
{
    return __atomic_load_n(&share->part[n].at, __ATOMIC_RELAXED) >
           __atomic_load_n(&share->fault_block, __ATOMIC_RELAXED);
}

/* Does for workers what the node does for this process: a worker that uses CPU time without
 * progress is in an endless loop. Requests that it reports where, and kills it if it does not. */
static void watch_worker(struct worker *h)
{
    clockid_t clock;
    double used = clock_getcpuclockid(h->pid, &clock) == 0 ? clock_seconds(clock) : 0;
    if (h->used < 0 || context.control->progress != h->progress) {
        h->used = used;
        h->progress = context.control->progress;
    } else if (used - h->used > vgpu_kernel_seconds() + 2) {
        kill(h->pid, SIGKILL);
    } else if (used - h->used > vgpu_kernel_seconds()) {
        kill(h->pid, VGPU_EXEC_HANG_SIGNAL);
    }
}

/* Waits for a worker that takes part. False: it had not begun, and is not needed. */
static bool await_worker(uint32_t n)
{
    struct pollfd p = {.fd = worker[n].tells, .events = POLLIN};
    char byte;
    if (change_state(&share->part[n], WORKER_ASKED, WORKER_IDLE))
        return false;
    while (worker[n].pid && poll(&p, 1, TICK_MS) <= 0)
        for (uint32_t i = n; i < asked_count; i++) {
            if (worker[i].pid && is_moot(i)) {
                kill(worker[i].pid, SIGKILL);
                collect_worker(i);
            } else if (worker[i].pid) {
                watch_worker(&worker[i]);
            }
        }
    if (worker[n].pid && read(worker[n].tells, &byte, 1) != 1)
        collect_worker(n);
    return true;
}

static void add_counts(struct vgpu_run_counts *to, const struct vgpu_run_counts *from)
{
    for (uint32_t i = 0; i < sizeof to->read_bytes / sizeof *to->read_bytes; i++) {
        to->read_bytes[i] += from->read_bytes[i];
        to->write_bytes[i] += from->write_bytes[i];
    }
    to->atomics += from->atomics;
    to->barriers += from->barriers;
    to->threads += from->threads;
    to->accesses += from->accesses;
    to->shared_accesses += from->shared_accesses;
    to->shuffles += from->shuffles;
    to->fast_blocks += from->fast_blocks;
    if (from->work.slots)
        to->work = from->work;
    to->busiest = to->busiest > from->busiest ? to->busiest : from->busiest;
    to->cycles = to->cycles > from->cycles ? to->cycles : from->cycles;
}

/* Adds a worker's part. False: there is none, although it was needed. */
static bool add_part(struct run *run, const struct part *part, struct vgpu_exec_reply *reply)
{
    struct vgpu_exec_reply theirs;
    if (!__atomic_load_n(&part->ended, __ATOMIC_ACQUIRE))
        return part->at > share->fault_block;
    add_counts(&run->counts, &part->counts);
    findings_merge(run, part->finding_set, part->findings);
    bounds_merge(run, part->stray, part->stray_count);
    contention_merge(run, &part->contention);
    signals_merge(run, share->run.signals.stored_count, &part->signals, part->stored_by);
    memcpy(&theirs, part->reply, sizeof theirs);
    if (theirs.status == VGPU_FAULTED && part->at == share->fault_block)
        *reply = theirs;
    return true;
}

void workers_join(struct run *run, struct vgpu_exec_reply *reply)
{
    bool complete = true;
    uint64_t took_part = 0;
    if (!sharing)
        return;
    if (reply->status == VGPU_FAULTED)
        note_fault_signal(running);
    for (uint32_t n = 0; n < asked_count; n++)
        took_part |= (uint64_t)await_worker(n) << n;
    for (uint32_t n = 0; n < asked_count; n++)
        if (took_part >> n & 1)
            complete &= add_part(run, &share->part[n], reply);
    memory_share(NULL, 0);
    sharing = false;
    if (complete)
        return;
    reply->status = VGPU_REFUSED;
    snprintf(
        reply->text, sizeof reply->text,
        "a process that ran blocks of %s ended before they did: no memory? VGPU_WORKERS=1 runs "
        "all blocks in one",
        run->kernel->name);
}

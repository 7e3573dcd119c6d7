/* SPDX-License-Identifier: MIT
 * worker_process.c: see worker_process.h.
 *
 * Shared state lies in one page: the next unclaimed block, the lowest block that faulted, and each
 * worker's part of the result. Blocks before a fault are still run to their end by the process that
 * claimed them, so that the reported fault is the one that a single processor would have met first.
 */
#include "worker_process.h"

#include "bounds.h"
#include "counters.h"
#include "fiber.h"
#include "finding.h"
#include "mapped_memory.h"
#include "number.h"
#include "kernel_timeout.h"

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

enum { WORKERS_MAX = 31, TICK_MS = 200 };
#define WORTH_IT_S 2e-3 /* a run that took this long gets workers: a fork costs a tenth of it */

struct part {    /* a worker's part of the result */
    uint64_t at; /* block that it runs */
    bool ended;
    struct vgpu_run_counts counts;
    uint32_t finding_set;
    char findings[VGPU_FINDINGS_TEXT];
    uint32_t stray_count;
    struct vgpu_stray stray[VGPU_STRAYS];
    uint8_t reply[sizeof(struct vgpu_exec_reply)]; /* after a fault: the reply */
};

struct share {
    uint64_t next, count; /* blocks: the first unclaimed one, the total */
    uint64_t fault_block; /* lowest block that faulted; ~0: none */
    uint32_t lock; /* holder while it commits a chunk: 0 none, 1 the parent, n + 2 worker n */
    uint32_t workers;
    struct part part[WORKERS_MAX];
};

struct worker {
    pid_t pid;
    int alive; /* pipe's read end: at end of file when the worker has ended */
    double used;
    uint64_t progress;
};

static struct share *share; /* NULL: no workers run */
static struct worker worker[WORKERS_MAX];
static struct part *own_part; /* in a worker: its own part */
static uint32_t worker_count;
static uint64_t running; /* block that this process runs */

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
    const char *asked = getenv("VGPU_WORKERS");
    uint64_t count = (uint64_t)__builtin_popcountll(context.limits.cpus);
    vgpu_number(asked, 1, UINT64_MAX, &count); /* invalid: ignored, and reported by the node */
    known = count < 1 ? 1 : count > WORKERS_MAX + 1 ? WORKERS_MAX + 1 : (uint32_t)count;
    return known;
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

static void begin_work(struct run *run, uint32_t n, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    close(3); /* the node's socket */
    own_part = &share->part[n];
    memory_share(&share->lock, n + 2);
    move_to_processor(n);
    memset(access_count, 0, sizeof access_count);
    run->counts = (struct vgpu_run_counts){0};
    findings_clear_text(run);
    bounds_clear(run);
    memory_reopen();
}

static _Noreturn void end_work(const struct run *run, const struct vgpu_exec_reply *reply)
{
    memory_deliver_torn();
    own_part->counts = run->counts;
    own_part->finding_set = run->findings.set;
    memcpy(own_part->findings, run->findings.text, sizeof own_part->findings);
    own_part->stray_count = run->strays.count;
    memcpy(own_part->stray, run->strays.list, sizeof own_part->stray);
    memcpy(own_part->reply, reply, sizeof own_part->reply);
    __atomic_store_n(&own_part->ended, true, __ATOMIC_RELEASE);
    _exit(0);
}

/* ---- starting them ---- */

static bool start_one(struct run *run, uint32_t n)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0)
        begin_work(run, n, parent);
    else
        close(ends[1]);
    if (pid < 0)
        close(ends[0]);
    if (pid > 0)
        worker[n] = (struct worker){.pid = pid, .alive = ends[0], .used = -1};
    return pid > 0;
}

static void start_workers(struct run *run)
{
    share = mmap(NULL, sizeof *share, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (share == MAP_FAILED) {
        share = NULL;
        return;
    }
    share->next = run->next_block;
    share->count = run->block_count;
    share->fault_block = ~0ull;
    share->workers = processor_count();
    memory_share(&share->lock, 1);
    run->claimed = run->next_block;
    for (worker_count = 0; !own_part && worker_count < share->workers - 1; worker_count++)
        if (!start_one(run, worker_count))
            break; /* fork failed, or this is a worker */
}

void workers_consider(struct run *run)
{
    if (!run->may_share || share || run->looks++ % BLOCKS_A_LOOK != 0)
        return;
    double now_s = clock_seconds(CLOCK_MONOTONIC);
    if (run->looks == 1)
        run->started = now_s;
    else if (now_s - run->started > WORTH_IT_S && run->next_block + 1 < run->block_count &&
             processor_count() > 1 && lane_order != LANES_SEEDED)
        start_workers(run);
}

/* ---- blocks ---- */

bool worker_claim(struct run *run)
{
    if (!share)
        return false;
    uint64_t next = __atomic_load_n(&share->next, __ATOMIC_RELAXED), batch;
    do {
        if (next >= share->count)
            return false;
        batch = (share->count - next) / (2 * share->workers);
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
    if (!share)
        return true;
    if (own_part)
        __atomic_store_n(&own_part->at, number, __ATOMIC_RELAXED);
    return number < __atomic_load_n(&share->fault_block, __ATOMIC_RELAXED);
}

static void note_fault_signal(uint64_t number)
{
    uint64_t lowest = __atomic_load_n(&share->fault_block, __ATOMIC_RELAXED);
    while (number < lowest &&
           !__atomic_compare_exchange_n(&share->fault_block, &lowest, number, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
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

static void collect_worker(uint32_t n)
{
    while (waitpid(worker[n].pid, NULL, 0) < 0 && errno == EINTR)
        ;
    worker[n].pid = 0;
    close(worker[n].alive);
    if (share->lock == n + 2) /* killed while it held the lock */
        __atomic_store_n(&share->lock, 0, __ATOMIC_RELEASE);
}

static void await_worker(uint32_t n)
{
    struct pollfd p = {.fd = worker[n].alive, .events = POLLIN};
    while (worker[n].pid && poll(&p, 1, TICK_MS) <= 0)
        for (uint32_t i = n; i < worker_count; i++) {
            if (worker[i].pid && is_moot(i)) {
                kill(worker[i].pid, SIGKILL);
                collect_worker(i);
            } else if (worker[i].pid) {
                watch_worker(&worker[i]);
            }
        }
    if (worker[n].pid)
        collect_worker(n);
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
    memcpy(&theirs, part->reply, sizeof theirs);
    if (theirs.status == VGPU_FAULTED && part->at == share->fault_block)
        *reply = theirs;
    return true;
}

void workers_join(struct run *run, struct vgpu_exec_reply *reply)
{
    bool complete = true;
    if (!share)
        return;
    if (reply->status == VGPU_FAULTED)
        note_fault_signal(running);
    if (own_part)
        end_work(run, reply);
    for (uint32_t n = 0; n < worker_count; n++)
        await_worker(n);
    for (uint32_t n = 0; n < worker_count; n++)
        complete &= add_part(run, &share->part[n], reply);
    memory_share(NULL, 0);
    munmap(share, sizeof *share);
    share = NULL;
    if (complete)
        return;
    reply->status = VGPU_REFUSED;
    snprintf(
        reply->text, sizeof reply->text,
        "a process that ran blocks of %s ended before they did: no memory? VGPU_WORKERS=1 runs "
        "all blocks in one",
        run->kernel->name);
}

/* SPDX-License-Identifier: MIT
 * test_share.c: kernels whose blocks run in several processes: what they leave, what they count and
 * what is said about them is what one process leaves, counts and says.
 *
 *     test-exec-share          all of that, and that these processes stay for the next kernel
 *     test-exec-share stuck    a helper in an endless loop is found (takes 30 s: no test)
 */
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TREE, STRAY, STUCK, COUNT, SUMS, BLOCKS = 32768, THREADS = 64, LATE = 30001, NEVER = -1 };
static const uint64_t in = OWN, out = OWN + (8 << 20);

int failures;

void check_failed(const char *file, int line, const char *what, unsigned long long got,
                  unsigned long long want)
{
    failures++;
    fprintf(stderr, "%s:%d: %s: got %llu, want %llu\n", file, line, what, got, want);
}

struct outcome {
    uint32_t sums[BLOCKS];
    bool helped;
    struct vgpu_exec_reply reply;
};

static struct outcome alone, shared;
static struct vgpu_pointed pointed[VGPU_POINTED]; /* of the next runs' allocations */

/* ---- the context's workers ---- */

enum { MOST = 32 };

struct workers {
    int count;
    pid_t pid[MOST];
};

/* The parent of a process, and its state; 0: there is no such process. */
static pid_t parent_of(const char *name, char *state)
{
    char path[300], line[600];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", name);
    FILE *file = fopen(path, "re");
    const char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (end)
        sscanf(end + 1, " %c %d", state, &parent);
    if (file)
        fclose(file);
    return parent;
}

/* The context's own processes that have not ended. */
static struct workers workers_of(const struct rig *rig)
{
    struct workers found = {0};
    char state = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && (e = readdir(proc)) && found.count < MOST;)
        if (atoi(e->d_name) > 0 && parent_of(e->d_name, &state) == rig->pid && state != 'Z')
            found.pid[found.count++] = atoi(e->d_name);
    closedir(proc);
    return found;
}

static bool holds_pid(const struct workers *w, pid_t pid)
{
    for (int i = 0; i < w->count; i++)
        if (w->pid[i] == pid)
            return true;
    return false;
}

static int both(const struct workers *a, const struct workers *b)
{
    int count = 0;
    for (int i = 0; i < a->count; i++)
        count += holds_pid(b, a->pid[i]);
    return count;
}

/* ---- runs ---- */

static void prepare(struct rig *rig, const char *image, const char *workers)
{
    *rig = (struct rig){.image = image};
    setenv("VGPU_WORKERS", workers, 1);
    rig_start(rig);
    rig_map(rig, 0, RIG_MEMORY, true);
    memcpy(rig->pointed, pointed, sizeof pointed);
    for (uint32_t i = 0; i < 65536; i++)
        rig_words(rig, 0)[i] = i * 2654435761u;
    memset(rig->control->chunk, 1, 4); /* what the node has written to */
}

static void run(struct outcome *to, const char *image, const char *workers, int kernel,
                uint64_t late)
{
    struct rig rig;
    prepare(&rig, image, workers);
    rig_run(&rig, (enum kernel_number)kernel, GRID(BLOCKS, THREADS), in, out, late);
    to->reply = rig.reply;
    memcpy(to->sums, rig_words(&rig, out - OWN), sizeof to->sums);
    to->helped = workers_of(&rig).count > 0;
    CHECK(rig_stop(&rig), 0);
}

static void same_outcome(int kernel, uint64_t late, int status)
{
    static const char *const workers[] = {"2", "3", "8"};
    run(&alone, SHARE_IMAGE_PATH, "1", kernel, late);
    CHECK(alone.helped, false);
    CHECK(alone.reply.status, status);
    for (unsigned i = 0; i < sizeof workers / sizeof *workers; i++) {
        run(&shared, SHARE_IMAGE_PATH, workers[i], kernel, late);
        CHECK(shared.helped || status == VGPU_FAULTED, true); /* those after a fault are ended */
        CHECK(shared.reply.status, status);
        CHECK(strcmp(shared.reply.text, alone.reply.text), 0);
        CHECK(memcmp(&shared.reply.fault, &alone.reply.fault, sizeof alone.reply.fault), 0);
        if (status != VGPU_RAN)
            continue;
        CHECK(memcmp(&shared.reply.counts, &alone.reply.counts, sizeof alone.reply.counts), 0);
        CHECK(memcmp(shared.sums, alone.sums, sizeof alone.sums), 0);
        CHECK(memcmp(&shared.reply.signals, &alone.reply.signals, sizeof alone.reply.signals), 0);
    }
}

static void point_to(uint64_t first, uint64_t second)
{
    memset(pointed, 0, sizeof pointed);
    pointed[0] = (struct vgpu_pointed){in, first};
    pointed[1] = (struct vgpu_pointed){second, out + (8 << 20)};
}

/* A kernel whose atomics are sums in an allocation of their own; and in one that it reads, too, or
 * of which nothing is known. The node's list of where it stores has 32 places: with 512
 * blocks each it is full at block 16384, with 4096 never. */
static void sums(void)
{
    point_to(out, out);
    same_outcome(SUMS, 512, VGPU_RAN);
    same_outcome(SUMS, 4096, VGPU_RAN);
    for (int unknown = 0; unknown < 2; unknown++) {
        point_to(unknown ? out : out + 4, unknown ? out + 4 : out + 4);
        run(&shared, SHARE_IMAGE_PATH, "4", SUMS, 512);
        CHECK(shared.helped, false);
        CHECK(shared.reply.status, VGPU_RAN);
    }
    memset(pointed, 0, sizeof pointed);
}

/* A kernel with an atomic: its blocks run one after the other, also beside kernels without. */
static void never_with_atomics(void)
{
    run(&shared, SHARE_IMAGE_PATH, "4", COUNT, 0);
    CHECK(shared.reply.status, VGPU_RAN);
    CHECK(shared.helped, false);
    CHECK(shared.sums[0], VGPU_POISON * 0x01010101u + BLOCKS * THREADS);
}

/* ---- workers that stay ---- */

/* One more kernel: it leaves what one process leaves, wherever its memory is. */
static void again(struct rig *rig, uint64_t from, int memory, uint64_t to)
{
    uint32_t *sums = (uint32_t *)(void *)(rig->memory[memory < 0 ? RIG_DEVICES : memory] +
                                          (to & (VGPU_DEVICE_STRIDE - 1)));
    memset(sums, 0, sizeof alone.sums);
    rig_run(rig, (enum kernel_number)TREE, GRID(BLOCKS, THREADS), from, to, (uint64_t)NEVER);
    CHECK(rig->reply.status, VGPU_RAN);
    CHECK(memcmp(sums, alone.sums, sizeof alone.sums), 0);
}

static void other_mappings(struct rig *rig)
{
    const struct workers before = workers_of(rig);
    rig_map(rig, 1, RIG_MEMORY, true);
    rig_map(rig, -1, RIG_MEMORY, true);
    memset(rig->control->chunk[1], 1, 4);
    memcpy(rig->memory[RIG_DEVICES], rig_words(rig, 0), 65536 * sizeof(uint32_t));
    again(rig, HOST, 1, PEER + (8 << 20));
    rig_unmap(rig, OWN, RIG_MEMORY);
    rig_map(rig, 0, RIG_MEMORY / 2, true);
    again(rig, in, -1, HOST + (8 << 20));
    const struct workers after = workers_of(rig);
    CHECK(both(&before, &after), 2);
    for (int i = 0; i < 50; i++) { /* more than are logged */
        rig_unmap(rig, PEER, RIG_MEMORY);
        rig_map(rig, 1, RIG_MEMORY, true);
    }
    again(rig, in, 1, PEER + (8 << 20));
    const struct workers last = workers_of(rig);
    CHECK(last.count, 2);
    CHECK(both(&last, &after), 0);
}

static void other_image(struct rig *rig)
{
    const struct vgpu_exec_request request = {.op = VGPU_EXEC_MODULE, .module = 2};
    const struct workers before = workers_of(rig);
    int image = open(TEST_IMAGE_PATH, O_RDONLY | O_CLOEXEC);
    rig_ask(rig, &request, NULL, 0, &image, 1);
    CHECK(rig->reply.status, VGPU_OK);
    close(image);
    again(rig, in, 0, out);
    const struct workers after = workers_of(rig);
    CHECK(after.count, 2);
    CHECK(both(&before, &after), 0);
}

/* A worker that was killed while it had nothing to do is replaced; one with nothing to do ends. */
static void workers_end(struct rig *rig)
{
    const struct workers before = workers_of(rig);
    kill(before.pid[0], SIGKILL);
    while (workers_of(rig).count == before.count)
        usleep(1000);
    again(rig, in, 0, out);
    const struct workers after = workers_of(rig);
    CHECK(after.count, 2);
    CHECK(both(&before, &after), 1);
    while (workers_of(rig).count > 0)
        usleep(10000);
    again(rig, in, 0, out);
    CHECK(workers_of(rig).count, 2);
}

/* A worker that cannot map what its parent has mapped runs no block, and is replaced. */
static void unable(struct rig *rig)
{
    static const struct rlimit no_more = {1, 1};
    const struct workers before = workers_of(rig);
    CHECK(before.count, 2);
    for (int i = 0; i < before.count; i++)
        CHECK(prlimit(before.pid[i], RLIMIT_AS, &no_more, NULL), 0);
    rig_unmap(rig, PEER, RIG_MEMORY);
    rig_map(rig, 1, RIG_MEMORY, true);
    again(rig, in, 1, PEER + (8 << 20));
    while (workers_of(rig).count > 0)
        usleep(1000);
    again(rig, in, 0, out);
    CHECK(workers_of(rig).count, 2);
}

/* ---- a worker that begins to run late ---- */

struct holder {
    pid_t parent;
    pthread_barrier_t ready, may_run;
    bool held;
};

/* Lets the process run on until it forks (it takes signals for memory that it touches first); the
 * child, which is stopped; 0: there is none. */
static pid_t next_fork(pid_t parent)
{
    unsigned long child = 0;
    int status;
    while (waitpid(parent, &status, __WALL) == parent && WIFSTOPPED(status)) {
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_FORK << 8)) {
            ptrace(PTRACE_GETEVENTMSG, parent, NULL, &child);
            return waitpid((pid_t)child, &status, __WALL) == (pid_t)child ? (pid_t)child : 0;
        }
        ptrace(PTRACE_CONT, parent, NULL, (void *)(uintptr_t)WSTOPSIG(status)); /* NOLINT */
    }
    return 0;
}

/* Stops the process that `parent` forks next, from its first instruction until `may_run`. Only the
 * thread that traces a process can do that. */
static void *hold_worker(void *holder)
{
    struct holder *h = holder;
    bool traced = ptrace(PTRACE_SEIZE, h->parent, NULL, PTRACE_O_TRACEFORK) == 0;
    pthread_barrier_wait(&h->ready);
    pid_t child = traced ? next_fork(h->parent) : 0;
    if (child)
        ptrace(PTRACE_DETACH, h->parent, NULL, NULL);
    pthread_barrier_wait(&h->may_run);
    h->held = child && ptrace(PTRACE_DETACH, child, NULL, NULL) == 0;
    return NULL;
}

/* It has what was mapped between its fork and its first instruction. */
static void late_worker(void)
{
    struct rig rig;
    struct holder holder = {0};
    pthread_t thread;
    prepare(&rig, SHARE_IMAGE_PATH, "2");
    holder.parent = rig.pid;
    pthread_barrier_init(&holder.ready, NULL, 2);
    pthread_barrier_init(&holder.may_run, NULL, 2);
    CHECK(pthread_create(&thread, NULL, hold_worker, &holder), 0);
    pthread_barrier_wait(&holder.ready);
    again(&rig, in, 0, out);
    rig_map(&rig, 1, RIG_MEMORY, true);
    memset(rig.control->chunk[1], 1, 4);
    pthread_barrier_wait(&holder.may_run);
    pthread_join(thread, NULL);
    CHECK(holder.held, true);
    again(&rig, in, 1, PEER + (8 << 20));
    CHECK(workers_of(&rig).count, 1);
    CHECK(rig_stop(&rig), 0);
}

static void stay(void)
{
    struct rig rig;
    run(&alone, SHARE_IMAGE_PATH, "1", TREE, (uint64_t)NEVER);
    prepare(&rig, SHARE_IMAGE_PATH, "3");
    again(&rig, in, 0, out);
    const struct workers before = workers_of(&rig);
    CHECK(before.count, 2);
    again(&rig, in, 0, out);
    const struct workers after = workers_of(&rig);
    CHECK(both(&before, &after), 2);
    other_mappings(&rig);
    other_image(&rig);
    workers_end(&rig);
    unable(&rig);
    CHECK(rig_stop(&rig), 0);
}

static void stuck(void)
{
    run(&shared, SHARE_IMAGE_PATH, "2", STUCK, LATE);
    CHECK(shared.helped, true);
    CHECK(shared.reply.status, VGPU_FAULTED);
    CHECK(shared.reply.fault.kind, VGPU_FAULT_HANG);
    CHECK(shared.reply.fault.block.x, LATE);
    printf("%s: %s\n", shared.reply.fault.where, shared.reply.text);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "stuck") == 0) {
        stuck();
        return failures != 0;
    }
    same_outcome(TREE, (uint64_t)NEVER, VGPU_RAN);
    same_outcome(TREE, LATE, VGPU_RAN);
    CHECK(strstr(shared.reply.text, "division by zero") != NULL, true);
    same_outcome(STRAY, LATE, VGPU_FAULTED);
    CHECK(shared.reply.fault.block.x, LATE);
    CHECK(shared.reply.fault.thread.x, 3);
    never_with_atomics();
    sums();
    stay();
    late_worker();
    printf("%d failed checks\n", failures);
    return failures != 0;
}

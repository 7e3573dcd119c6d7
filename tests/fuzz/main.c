/* SPDX-License-Identifier: MIT
 * main.c: fuzz [options] FIRST COUNT
 *
 *   --gpus N      how many GPUs the programs are made for (default 4)
 *   --text        every program's answers, not only their hash
 *   --keep LIST   of the program, only these operations: 0,3,7 (to find a smaller one)
 *   --show        the operations, with no GPU asked
 *   --serve       instead of FIRST COUNT: `SEED LIST` lines from standard input, LIST as for --keep
 *
 * For each seed FIRST, FIRST + 1, ...: `SEED HASH OPERATIONS`, or with --text `SEED {`, the
 * answers, `} HASH OPERATIONS`. This process makes no CUDA call: it starts another one, which
 * carries out programs until an error stays or it is killed, and then the next.
 */
#include "fuzz.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60, GOES_ON = 0, NEXT_PROCESS = 3 };

const char *const fuzz_names[OP_KINDS] = {
    "device", "alloc", "free", "peer", "copy", "set", "kernel", "stream", "event", "sync",
    "error",  "ask",   "host", "reg",  "ipc",  "vmm", "symbol", "pool",   "graph", "fault"};

static struct {
    int gpus;
    bool text, show, serve;
    char *keep;
    uint64_t first, count;
} options = {.gpus = 4};

static void run_device(const int *a)
{
    if (said(cudaSetDevice(a[0])))
        state.device = a[0];
}

static void run_sync(const int *a)
{
    (void)a;
    sync_all();
    said(cudaDeviceSynchronize());
}

static void run_error(const int *a)
{
    said(a[1] % 2 ? cudaGetLastError() : cudaPeekAtLastError());
    state.dead = false; /* it may be an old one that did not stay */
}

void run_op(int index)
{
    static void (*const by_kind[OP_KINDS])(const int *) = {
        [OP_DEVICE] = run_device, [OP_ALLOC] = run_alloc,       [OP_FREE] = run_free,
        [OP_PEER] = run_peer,     [OP_COPY] = run_copy,         [OP_SET] = run_set,
        [OP_KERNEL] = run_kernel, [OP_STREAM] = run_stream,     [OP_EVENT] = run_event,
        [OP_SYNC] = run_sync,     [OP_ERROR] = run_error,       [OP_ASK] = run_ask,
        [OP_HOST] = run_host,     [OP_REGISTER] = run_register, [OP_IPC] = run_ipc,
        [OP_VMM] = run_vmm,       [OP_SYMBOL] = run_symbol,     [OP_POOL] = run_pool,
        [OP_GRAPH] = run_graph,   [OP_FAULT] = run_fault};
    const struct fuzz_op *op = &state.program->op[index];
    say("%d p%d %s", index, state.process, fuzz_names[op->what]);
    by_kind[op->what](op->a);
    say(" last %d\n", cudaPeekAtLastError());
}

static uint64_t hashed(const char *text)
{
    uint64_t hash = 14695981039346656037ull;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ull;
    return hash;
}

static bool kept(int index)
{
    if (options.keep == NULL)
        return true;
    for (char *at = options.keep; *at;) {
        if (strtol(at, &at, 10) == index)
            return true;
        if (*at && *at++ != ',')
            return false;
    }
    return false;
}

static void print_answers(void)
{
    if (options.text)
        printf("%llu {\n%s}", (unsigned long long)shared->seed, state.text);
    else
        printf("%llu", (unsigned long long)shared->seed);
    printf(" %016llx %d\n", (unsigned long long)hashed(state.text), state.program->count);
    fflush(stdout);
}

/* A call that crashes or does not come back is an answer, too: the last one of its process. */
static void crashed(int number)
{
    say(number == SIGALRM ? " hangs\n" : " crashes\n");
    state.dead = true;
    if (!pair_crashed())
        print_answers();
    _exit(NEXT_PROCESS);
}

/* Carries out the program of a seed. Whether this process can do another one after it. */
static bool run_program(uint64_t seed)
{
    static struct fuzz_program program;
    fuzz_generate(&program, seed, options.gpus);
    shared->seed = seed;
    memset(shared->handle, 0, sizeof shared->handle);
    memset(shared->chunk, 0, sizeof shared->chunk);
    memset(shared->lent, 0, sizeof shared->lent);
    pair_forget();
    state_begin(&program, 0);
    alarm(SECONDS);
    if (program.two)
        pair_run(-1);
    for (int i = 0; i < program.count && !state.dead; i++) {
        if (!kept(i))
            continue;
        if (program.op[i].process == 1)
            pair_run(i);
        else
            run_op(i);
    }
    if (program.two && !state.dead)
        pair_run(-2);
    if (!state.dead)
        state_end();
    print_answers();
    return !state.dead;
}

/* The next line of standard input, read so that the next process goes on behind it. */
static bool next_line(uint64_t *seed)
{
    static char line[1024];
    size_t length = 0;
    for (; length + 1 < sizeof line; length++)
        if (read(STDIN_FILENO, line + length, 1) != 1 || line[length] == '\n')
            break;
    line[length] = 0;
    options.keep = strchr(line, ' ');
    *seed = strtoull(line, NULL, 10);
    return length > 0;
}

static bool next_seed(uint64_t *seed)
{
    if (options.serve)
        return next_line(seed);
    *seed = shared->next++;
    return *seed < options.first + options.count;
}

/* Every GPU has its context before the first program, so that no program depends on the others. */
static void work(void)
{
    uint64_t seed;
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], crashed);
    pair_start();
    for (int d = 0; d < options.gpus; d++) {
        cudaSetDevice(d);
        cudaFree(NULL);
    }
    while (next_seed(&seed))
        if (!run_program(seed))
            _exit(NEXT_PROCESS);
    exit(GOES_ON);
}

/* One process after the other, until there are no programs left. */
static void supervise(void)
{
    for (int status = 0;;) {
        fflush(stdout);
        pid_t worker = fork();
        if (worker == 0)
            work();
        waitpid(worker, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == GOES_ON)
            return;
        if (WIFEXITED(status) && WEXITSTATUS(status) == NEXT_PROCESS)
            continue;
        printf(options.text ? "%llu {\n} died %x\n" : "%llu died %x\n",
               (unsigned long long)shared->seed, (unsigned)status);
    }
}

static void show(uint64_t seed)
{
    static struct fuzz_program p;
    fuzz_generate(&p, seed, options.gpus);
    for (int i = 0; i < p.count; i++) {
        if (!kept(i))
            continue;
        printf("%d p%d %s", i, p.op[i].process, fuzz_names[p.op[i].what]);
        for (int k = 0; k < FUZZ_ARGS; k++)
            printf(" %d", p.op[i].a[k]);
        putchar('\n');
    }
}

static void parse(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--text") == 0)
            options.text = true;
        else if (strcmp(argv[i], "--show") == 0)
            options.show = true;
        else if (strcmp(argv[i], "--serve") == 0)
            options.serve = options.text = true;
        else if (strcmp(argv[i], "--gpus") == 0 && i + 1 < argc)
            options.gpus = atoi(argv[++i]);
        else if (strcmp(argv[i], "--keep") == 0 && i + 1 < argc)
            options.keep = argv[++i];
        else
            i = argc;
    }
    if (i + (options.serve ? 0 : 2) != argc || options.gpus < 1 || options.gpus > FUZZ_GPUS) {
        fprintf(
            stderr,
            "usage: fuzz [--gpus 1..%d] [--text] [--show] [--keep 0,3,7] FIRST COUNT | --serve\n",
            FUZZ_GPUS);
        exit(2);
    }
    if (options.serve)
        return;
    options.first = strtoull(argv[i], NULL, 0);
    options.count = strtoull(argv[i + 1], NULL, 0);
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    shared = (struct fuzz_shared *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared->next = options.first;
    if (options.show)
        for (uint64_t seed = options.first; seed < options.first + options.count; seed++)
            show(seed);
    else
        supervise();
    return 0;
}

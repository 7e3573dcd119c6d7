/* SPDX-License-Identifier: MIT
 * run.c: lab_run: one runner, on a node of its own, from its memory files to the verdict.
 *
 * Order matters at the end: first all descendant processes are killed, then the output is copied,
 * and only then is it read.
 */
#include "process.h"
#include "run.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLE_SECONDS 0.25
#define POISON 0xA5

enum ending { ENDED, FLOODED, HUNG, ASLEEP, BUSY, LATE, FAT };

struct attempt { /* state that exists only while the runner runs */
    int input, shared, page, pidfd;
    int ends[2]; /* the runner's ends of the pipes */
    int report;  /* the launcher's report, -1 without one */
    void *output;
    struct lab_status *status;
    pid_t pid;
    int exit_status;
    enum ending ending;
    struct lab_watch watch;
};

/* ---- set-up ---- */

static void open_stream(struct lab_test *t, struct lab_stream *stream, int *other)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        lab__broken(t, errno, "cannot make a pipe for the runner's output");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    stream->fd = ends[0];
    *other = ends[1];
}

static void prepare_run(struct lab_test *t, struct lab_run *run, struct attempt *a,
                        const void *input, size_t input_bytes)
{
    void *page;
    a->input = lab__memory_input(input, input_bytes);
    a->shared = lab__memory_shared(run->output_bytes, &a->output);
    a->page = lab__memory_shared(sizeof *a->status, &page);
    if (a->input < 0 || a->shared < 0 || a->page < 0 || (t->sealed.bytes > 0 && !t->sealed.at))
        lab__broken(t, errno, "cannot make memory files for the runner");
    if (run->output_bytes > 0)
        memset(a->output, POISON, run->output_bytes);
    a->status = page;
    a->status->magic = LAB_STATUS_MAGIC;
    a->status->sealed_input_bytes = t->sealed.input_bytes;
    open_stream(t, &run->printed[0], &a->ends[0]);
    open_stream(t, &run->printed[1], &a->ends[1]);
}

static void spawn_runner(struct lab_test *t, struct lab_run *run, struct attempt *a)
{
    char *argv[LAB_LAUNCHER_MAX + 3];
    int report[2] = {-1, -1};
    bool launched = t->options->launcher_words > 0;
    lab__launch_words(t, run->what, argv);
    if (launched && pipe2(report, O_CLOEXEC) != 0)
        lab__broken(t, errno, "cannot make a pipe for the launcher");
    a->report = report[0];
    char **env = lab__environment(t, run->node);
    if (run->node)
        lab__hold_checks(t, run->node, env);
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool sealed = t->sealed.at && !lab__node_virtual();
    int fds[] = {nothing,
                 a->ends[0],
                 a->ends[1],
                 a->input,
                 a->shared,
                 a->page,
                 launched ? report[1] : nothing,
                 sealed ? t->sealed.fd : nothing};
    a->pid = lab__spawn(argv, env, fds, sealed ? 8 : launched ? 7 : 6);
    lab__environment_free(env);
    for (int i = 0; i < (launched ? 7 : 6); i++)
        close(fds[i]);
    if (a->pid < 0)
        lab__broken(t, -a->pid, "cannot start the runner '%s'; was it built? (cmake --build)",
                    t->runner);
    a->pidfd = lab__pidfd(a->pid);
}

/* ---- while it runs ---- */

static bool attempt_has_ended(struct lab_test *t, struct attempt *a)
{
    struct rusage used;
    pid_t got = wait4(a->pid, &a->exit_status, WNOHANG, &used);
    if (got != a->pid)
        return false;
    t->cpu_seconds += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    return true;
}

static bool has_flooded(struct lab_run *run)
{
    for (int i = 0; i < 2; i++)
        if (run->printed[i].fd >= 0 && !lab__stream_read(&run->printed[i])) {
            close(run->printed[i].fd);
            run->printed[i].fd = -1; /* poll() would return at once for a closed pipe */
        }
    return run->printed[0].total + run->printed[1].total > LAB_FLOOD_BYTES;
}

static void wait_a_moment(const struct lab_run *run, const struct attempt *a)
{
    struct pollfd ready[] = {
        {.fd = run->printed[0].fd, .events = POLLIN},
        {.fd = run->printed[1].fd, .events = POLLIN},
        {.fd = a->pidfd, .events = POLLIN},
    };
    poll(ready, 3, a->pidfd >= 0 ? (int)(SAMPLE_SECONDS * 1000) : 10);
}

static enum ending supervise_run(struct lab_test *t, struct lab_run *run, struct attempt *a)
{
    static const enum ending endings[] = {[LAB_HUNG] = HUNG,
                                          [LAB_ASLEEP] = ASLEEP,
                                          [LAB_BUSY] = BUSY,
                                          [LAB_LATE] = LATE,
                                          [LAB_FAT] = FAT};
    lab__watch_start(&a->watch, run->node);
    for (double sampled = lab__seconds();;) {
        wait_a_moment(run, a);
        if (has_flooded(run))
            return FLOODED;
        if (attempt_has_ended(t, a))
            return ENDED;
        if (lab__seconds() - sampled < SAMPLE_SECONDS)
            continue;
        sampled = lab__seconds();
        enum lab_watched watched = lab__watch_sample(&a->watch);
        if (watched != LAB_ALIVE)
            return endings[watched];
    }
}

/* ---- afterwards ---- */

static void collect_output(struct lab_test *t, struct lab_run *run, struct attempt *a)
{
    if (run->node)
        lab__node_note(run->node);
    lab__kill_all(run->node ? lab__node_pid(run->node) : 0);
    if (a->ending == ENDED && has_flooded(run))
        a->ending = FLOODED;
    for (int i = 0; i < 2; i++)
        if (run->printed[i].fd >= 0)
            close(run->printed[i].fd);
    if (a->pidfd >= 0)
        close(a->pidfd);
    run->status = *a->status;
    munmap(a->status, sizeof *a->status);
    run->output = malloc(run->output_bytes + 1);
    if (run->output && run->output_bytes > 0)
        memcpy(run->output, a->output, run->output_bytes);
    if (run->output_bytes > 0)
        munmap(a->output, run->output_bytes);
    if (!run->output)
        lab__broken(t, ENOMEM, "no memory for %zu bytes of output", run->output_bytes);
    if (a->ending != ENDED)
        t->cpu_seconds += a->watch.cpu_seconds;
    t->charged_seconds += a->watch.charged;
    if (a->ending != ENDED || WIFSIGNALED(a->exit_status))
        lab__check_gpus(t);
}

/* Its name, without folders. */
static const char *learners_file(const struct lab_test *t)
{
    const char *source = t->options->source ? t->options->source : "";
    const char *slash = strrchr(source, '/');
    return slash ? slash + 1 : source;
}

/* A file in the lab's folder of tests, or an adapter. */
static bool is_of_tests(const char *name, size_t bytes)
{
    char path[512];
    if (bytes > 7 && memcmp(name, "runner.", 7) == 0)
        return true;
    snprintf(path, sizeof path, PEERLAB_ROOT "/labs/%s/tests/%.*s",
             lab_about.folder ? lab_about.folder : "", (int)bytes, name);
    return access(path, F_OK) == 0;
}

/* Keeps the last output; stderr first, since it explains more. */
static void keep_said(struct lab_test *t, const struct lab_run *run)
{
    int which = run->printed[1].kept > 0 ? 1 : 0;
    const char *file = learners_file(t);
    lab__stream_tail(&run->printed[which], t->said.at, sizeof t->said.at);
    lab__strip_ours(t->said.at, is_of_tests);
    t->found_line =
        lab__stream_finding(&run->printed[1], file, is_of_tests, t->found.at, sizeof t->found.at);
}

/* A kernel's fault at memory of another GPU, and the finding about the same launch: told once, by
 * the one that knows what must be done. */
static void tell_access_once(struct lab_test *t)
{
    if (!strstr(t->explained.at, " has no peer access to "))
        return;
    if (strstr(t->found.at, "[api.wrong-device;"))
        t->found.at[0] = 0;
    if (!strstr(t->found.at, "[api.peer-one-way;"))
        return;
    char *again = strstr(t->said.at, t->explained.at), *end = again ? strchr(again, '\n') : NULL;
    while (again && again > t->said.at && again[-1] != '\n')
        again--;
    if (again)
        memmove(again, end ? end + 1 : "", strlen(end ? end + 1 : "") + 1);
    t->explained.at[0] = 0;
}

/* A node that crashed or hangs is a failure of the program if it happens again: the grader repeats
 * the test alone, and then reports this. */
static void node_failed(struct lab_test *t, const struct lab_run *run, const struct attempt *a,
                        const char *how, const char *asked)
{
    static const char *const did[] = {
        [ENDED] = "had come to an end",      [FLOODED] = "had printed too much",
        [HUNG] = "waited for ever",          [ASLEEP] = "slept and did nothing else",
        [BUSY] = "had used up its CPU time", [LATE] = "had not come to an end",
        [FAT] = "had taken too much memory"};
    t->ending = "node";
    lab__broken(t, 0, "the virtual node %s while your program ran '%s' and %s; %s", how, run->what,
                did[a->ending], asked);
}

/* The run's own finding explains it; the first of all runs fails a case that passes else. */
static void keep_finding(struct lab_test *t, const struct lab_witness *w)
{
    const char *finding = w ? w->finding : "";
    if (t->explained.at[0] == 0 && finding[0] && !t->found.at[0])
        snprintf(t->explained.at, sizeof t->explained.at, "it found %s; ./lab explain %.*s",
                 finding, (int)strcspn(finding, " "), finding);
    lab__clean(t->explained.at);
    if (!finding[0] || t->finding[0])
        return;
    snprintf(t->finding, sizeof t->finding, "%s", finding);
    lab__clean(t->finding);
    t->first = (struct lab_told){t->explained, t->found, t->found_line};
}

/* Reads the node's records and explanation, then stops the node. */
static void ask_for_state(struct lab_test *t, struct lab_run *run, const struct attempt *a)
{
    char error[300] = "", asked[200] = "";
    uint64_t progress;
    if (!run->node)
        return;
    if (a->ending == HUNG || a->ending == ASLEEP)
        lab__node_progress(run->node, 10, &progress, t->explained.at, sizeof t->explained.at);
    run->witness = lab__node_witness(run->node, error, sizeof error);
    if (run->witness)
        t->now_ps = run->witness->now_ps;
    if (run->witness && !t->unsteady[0])
        snprintf(t->unsteady, sizeof t->unsteady, "%s", run->witness->unsteady);
    lab__clean(t->unsteady);
    if (t->explained.at[0] == 0)
        snprintf(t->explained.at, sizeof t->explained.at, "%s", lab__node_fault(run->node));
    lab__strip_ours(t->explained.at, is_of_tests);
    tell_access_once(t);
    t->raced |= run->witness && run->witness->raced;
    keep_finding(t, run->witness);
    if (!run->witness) {
        lab__node_note(run->node);
        lab__node_failure(run->node, error, sizeof error);
        lab__node_usage(run->node, asked, sizeof asked);
    }
    lab__node_stop(run->node);
    run->node = NULL;
    if (!run->witness)
        node_failed(t, run, a, error, asked);
}

/* The signal that ended the program, 0 without one. A launcher reports it as status 128 + N. */
static int signal_of(const struct lab_test *t, int status)
{
    if (WIFSIGNALED(status))
        return WTERMSIG(status);
    int code = WEXITSTATUS(status);
    return t->options->launcher_words > 0 && code > 128 && code <= 128 + SIGRTMAX ? code - 128 : 0;
}

static void ended_by(struct lab_test *t, const char *how, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

static void ended_by(struct lab_test *t, const char *how, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->ending = how;
    lab__vend(t, LAB_FAIL, format, args);
}

/* The verdict on a program that was stopped because it did not end. */
static void judge_stopped(struct lab_test *t, const struct lab_run *run, const struct attempt *a)
{
    char doing[sizeof run->status.text], call[sizeof run->status.text + 8];
    snprintf(doing, sizeof doing, "%.*s", (int)sizeof doing - 1, run->status.text);
    lab__clean(doing); /* the page is not trusted */
    snprintf(call, sizeof call, doing[0] ? "%s" : "'%s'", doing[0] ? doing : run->what);
    if (a->ending == FLOODED)
        ended_by(t, "output", "your program printed more than %u bytes and was stopped",
                 LAB_FLOOD_BYTES);
    if (a->ending == HUNG)
        ended_by(t, "timeout",
                 "your program hung: it waits forever in '%s' (every thread is blocked, no CPU "
                 "time used, nothing asked of the GPUs)%s%s",
                 run->what, doing[0] ? ": " : "", doing);
    if (a->ending == ASLEEP)
        ended_by(t, "timeout",
                 "your program slept for %.0f s in all without coming to an end in %s",
                 a->watch.idle, call);
    if (a->ending == BUSY)
        ended_by(t, "timeout", "your program ran %.0f CPU seconds without coming to an end in %s",
                 a->watch.cpu_seconds, call);
    if (a->ending == LATE)
        ended_by(t, "timeout",
                 "your program had not come to an end after %.0f s in %s: it ran for %.0f s, the "
                 "virtual node worked for it for %.0f s, and for %.0f s both waited",
                 a->watch.charged, call, a->watch.cpu_seconds, a->watch.node_seconds,
                 a->watch.blocked);
    if (a->ending == FAT)
        ended_by(t, "crash", "your program took more than %llu MiB of memory in %s",
                 (unsigned long long)(a->watch.memory_limit >> 20), call);
}

/* Every ending of the program except "not written". */
static void judge_ending(struct lab_test *t, const struct lab_run *run, const struct attempt *a)
{
    int status = a->exit_status, number = signal_of(t, status);
    judge_stopped(t, run, a);
    if (number == SIGALRM && run->status.crash_signal) /* crash.c of the runner took too long */
        number = run->status.crash_signal;
    if (number) {
        char how[800];
        lab__say_crash(t, run, number, how, sizeof how);
        ended_by(t, "crash", "your program was ended by %s", how);
    }
    if (run->status.state != LAB_STATE_FINISHED || WEXITSTATUS(status) != LAB_RUNNER_FINISHED)
        ended_by(t, "exit",
                 "your program was ended by exit(%d) before the function returned, in '%s'",
                 WEXITSTATUS(status), run->what);
}

/* The runner reported a TODO. Its text is sanitised, since the page is not trusted. */
static void judge_unwritten(struct lab_test *t, const struct lab_run *run)
{
    t->todo = run->status.todo;
    t->line = run->status.line;
    snprintf(t->file, sizeof t->file, "%.*s", (int)sizeof run->status.file - 1, run->status.file);
    lab__clean(t->file);
    t->said.at[0] = 0;
    lab__end(t, LAB_NOT_WRITTEN, "not written yet: TODO(%d) at %s:%d", t->todo, t->file, t->line);
}

/* A crash of what the program forked: it may be why the program waits, or goes on without it. */
static void explain_crash(struct lab_test *t, const struct lab_run *run)
{
    char how[800];
    if (!run->status.crash_signal)
        return;
    lab__say_crash(t, run, run->status.crash_signal, how, sizeof how);
    snprintf(t->explained.at, sizeof t->explained.at, LAB_CRASHED_CHILD "%s", how);
}

static void judge_run(struct lab_test *t, const struct lab_run *run, const struct attempt *a)
{
    bool left = a->ending == ENDED && WIFEXITED(a->exit_status);
    int code = left ? WEXITSTATUS(a->exit_status) : -1;
    if (!signal_of(t, a->exit_status) || a->ending != ENDED)
        explain_crash(t, run);
    if (code == LAB_RUNNER_NOT_WRITTEN && run->status.state == LAB_STATE_NOT_WRITTEN)
        judge_unwritten(t, run);
    if (code == LAB_RUNNER_TRAPPED && run->status.state == LAB_STATE_TRAPPED)
        lab__judge_trapped(t, run);
    if (code == LAB_RUNNER_BROKEN && run->status.state == LAB_STATE_BROKEN &&
        t->options->launcher_words == 0) /* a submission could forge a report of a harness error */
        lab__broken(t, 0, "'%s': %.*s", run->what, (int)sizeof run->status.text - 1,
                    run->status.text);
    judge_ending(t, run, a);
}

static struct lab_run *new_run(struct lab_test *t, const char *what, size_t output_bytes)
{
    struct lab_run *run = calloc(1, sizeof *run);
    if (!run)
        lab__broken(t, ENOMEM, "lab_run");
    run->what = what;
    run->output_bytes = output_bytes;
    run->printed[0].fd = run->printed[1].fd = -1;
    run->printed[0].text = calloc(1, LAB_KEEP_BYTES + 1);
    run->printed[1].text = calloc(1, LAB_KEEP_BYTES + 1);
    run->next = t->runs;
    t->runs = run;
    return run;
}

/* For the record: lists each node once. */
static void note_node(struct lab_test *t)
{
    char name[sizeof t->nodes[0]];
    snprintf(name, sizeof name, "%.63s", t->node);
    for (int i = 0; i < t->node_count; i++)
        if (strcmp(t->nodes[i], name) == 0)
            return;
    if (t->node_count < LAB_NODES_MAX)
        memcpy(t->nodes[t->node_count++], name, sizeof name);
}

static void give_node(struct lab_test *t, struct lab_run *run)
{
    char error[300] = "";
    if (!t->wants_node)
        return;
    run->node = t->ready ? t->ready : lab__node_start(t->node, error, sizeof error);
    t->ready = NULL;
    if (!run->node)
        lab__broken(t, 0, "cannot start a node '%s': %s", t->node, error);
    if (t->sealed.at &&
        !lab__node_seal(run->node, t->sealed.fd, t->sealed.input_bytes, error, sizeof error))
        lab__broken(t, 0, "the node did not take the GPUs' numbers (%zu bytes): %s",
                    t->sealed.bytes, error);
    note_node(t);
}

struct lab_run *lab_run(struct lab_test *t, const char *what, const void *input, size_t input_bytes,
                        size_t output_bytes)
{
    struct attempt a = {.pidfd = -1, .report = -1};
    struct lab_run *run = new_run(t, what, output_bytes);
    t->explained.at[0] = t->said.at[0] = t->found.at[0] = 0;
    give_node(t, run);
    prepare_run(t, run, &a, input, input_bytes);
    spawn_runner(t, run, &a);
    a.ending = supervise_run(t, run, &a);
    collect_output(t, run, &a);
    if (a.ending == ENDED)
        lab__check_launcher(t, a.report, a.exit_status);
    else if (a.report >= 0)
        close(a.report);
    keep_said(t, run);
    ask_for_state(t, run, &a);
    lab__open_sealed(t, run);
    judge_run(t, run, &a);
    return run;
}

const void *lab_output(const struct lab_run *run)
{
    return run->output;
}

const char *lab_stdout(const struct lab_run *run)
{
    return run->printed[0].text;
}

const struct lab_witness *lab_witness(const struct lab_run *run)
{
    return run->witness;
}

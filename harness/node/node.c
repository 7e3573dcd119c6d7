/* SPDX-License-Identifier: MIT
 * node.c: a virtual node for one runner, and the witness's connection to it.
 *
 * The verifier starts the node, connects as a witness before the runner exists (so the node stays
 * until the verdict), asks what it saw after the runner has gone, and ends it.
 */
#include "node.h"
#include "failure.h"
#include "output.h"
#include "process.h"

#include "run_directory.h"
#include "protocol.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_SECONDS 120       /* of a machine, not of a student: generous */
#define ANSWER_SECONDS 60       /* or LAB_ANSWER_SECONDS */
#define MOST_RECORDS (1u << 20) /* of a trace: the node keeps no more */

struct lab_node {
    char id[65], fault[512];
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    int socket, gpus;
    pid_t pid;
    int words;         /* what it prints goes here, a file in memory */
    int status;        /* as wait() gave it, once it has ended */
    bool ended, asked; /* a question whose answer has not come yet */
    bool nonsense;     /* it has answered what no node answers */
    struct vgpu_node_info info;
    struct vgpu_usage_page *usage; /* the node writes there */
};

union answer {
    struct vgpu_reply reply;
    uint64_t align;
    uint8_t room[VGPU_MSG_MAX];
};

bool lab__node_virtual(void)
{
    return true;
}

static double answer_seconds(void)
{
    const char *text = getenv("LAB_ANSWER_SECONDS");
    double seconds = text ? strtod(text, NULL) : 0;
    return seconds > 0 && seconds < ANSWER_SECONDS ? seconds : ANSWER_SECONDS;
}

/* ---- starting ---- */

static int say(char *error, size_t room, const char *what, const char *why)
{
    snprintf(error, room, "%s: %s", what, why);
    return -1;
}

/* Nobody else's, however many verifiers run at once. */
static void make_id(char *id, size_t room)
{
    static unsigned counter;
    uint64_t luck = 0;
    if (getrandom(&luck, sizeof luck, 0) != sizeof luck)
        luck = (uint64_t)(lab__seconds() * 1e9);
    snprintf(id, room, "lab-%d-%u-%08x", (int)getpid(), ++counter, (unsigned)luck);
}

static void node_program(char *path, size_t room)
{
    const char *home = getenv("VGPU_HOME");
    if (home && home[0])
        snprintf(path, room, "%s/bin/vgpu-node", home);
    else
        snprintf(path, room, "%s", LAB_NODE_PROGRAM);
}

/* What is the verifier's alone (LAB_SECRET, of which all sealed numbers of a submission are made)
 * or chooses another node is left out: the node talks to hostile code, and may be taken over. */
static bool is_for_node(const char *variable)
{
    static const char *const others[] = {"LAB_", "VGPU_NODE=", "VGPU_NODE_ID=", "VGPU_NODE_FD="};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(variable, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}

static char **node_environment(const char *description)
{
    static char choice[300];
    int count = 0, used = 0;
    while (environ[count])
        count++;
    char **env = calloc((size_t)count + 2, sizeof *env);
    if (!env)
        return NULL;
    for (int i = 0; i < count; i++)
        if (is_for_node(environ[i]))
            env[used++] = environ[i];
    snprintf(choice, sizeof choice, "VGPU_NODE=%s", description);
    env[used] = choice;
    return env;
}

/* Waits until the node listens: it writes a line to its end of the pipe, "ok" or what is wrong. */
static int wait_until_ready(int ready, char *error, size_t room)
{
    struct pollfd wait = {.fd = ready, .events = POLLIN};
    char line[256] = "";
    size_t length = 0;
    for (ssize_t n = 1; n > 0 && length + 1 < sizeof line && !strchr(line, '\n');) {
        if (poll(&wait, 1, START_SECONDS * 1000) <= 0)
            return say(error, room, "vgpu-node", "it did not get ready in 120 s");
        n = read(ready, line + length, sizeof line - 1 - length);
        length += n > 0 ? (size_t)n : 0;
        line[length] = 0;
    }
    line[strcspn(line, "\n")] = 0;
    if (strcmp(line, "ok") == 0)
        return 0;
    snprintf(error, room, "%s", line[0] ? line : "vgpu-node ended without a word");
    return -1;
}

static int spawn(struct lab_node *node, const char *description, char *error, size_t room)
{
    char program[4096];
    char *argv[] = {program, "--id", node->id, "--ready-fd", "3", "--usage-fd", "4", NULL};
    int ready[2] = {-1, -1}, rc = -1;
    int usage = lab__memory_shared(sizeof *node->usage, (void **)&node->usage);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    char **env = node_environment(description);
    node_program(program, sizeof program);
    if (nothing >= 0 && usage >= 0 && env && pipe2(ready, O_CLOEXEC) == 0) {
        int fds[] = {nothing, nothing, node->words >= 0 ? node->words : nothing, ready[1], usage};
        pid_t pid = lab__spawn(argv, env, fds, 5);
        close(ready[1]);
        rc = pid < 0 ? say(error, room, program, strerror(-pid))
                     : wait_until_ready(ready[0], error, room);
        close(ready[0]);
    } else {
        say(error, room, "starting vgpu-node", strerror(errno));
    }
    if (nothing >= 0)
        close(nothing);
    if (usage >= 0)
        close(usage);
    free(env);
    return rc;
}

static int ask(struct lab_node *node, enum vgpu_op op, uint64_t value)
{
    struct vgpu_request request = {.op = op, .value = value};
    snprintf(request.call, sizeof request.call, "witness");
    return vgpu_send(node->socket, &request, sizeof request, NULL, 0);
}

/* What the node answers is checked here, by type and range: hostile code talks to it, and one that
 * was taken over must not get any further. */
static bool is_whole(const union answer *to, ssize_t bytes)
{
    return bytes >= (ssize_t)sizeof to->reply &&
           to->reply.data_bytes == (size_t)bytes - sizeof to->reply;
}

/* Receives an answer within `seconds`, LAB_ANSWER_SECONDS at most. 0, 1 when there is none yet, -1
 * when the node is gone. */
static int answer(struct lab_node *node, union answer *to, double seconds)
{
    struct pollfd wait = {.fd = node->socket, .events = POLLIN};
    double most = answer_seconds();
    int n = poll(&wait, 1, (int)((seconds < most ? seconds : most) * 1000));
    if (n == 0 || (n < 0 && errno == EINTR))
        return 1;
    ssize_t bytes = vgpu_receive(node->socket, to, sizeof *to, NULL, NULL, 0);
    node->nonsense |= bytes != 0 && !is_whole(to, bytes);
    return is_whole(to, bytes) ? 0 : -1;
}

/* The node's description comes with its first answer. */
static int read_info(struct lab_node *node, union answer *to)
{
    int fd = -1, count = 1;
    struct pollfd wait = {.fd = node->socket, .events = POLLIN};
    if (poll(&wait, 1, ANSWER_SECONDS * 1000) <= 0)
        return -1;
    ssize_t bytes = vgpu_receive(node->socket, to, sizeof *to, &fd, &count, 0);
    bool whole = is_whole(to, bytes) && count == 1 &&
                 pread(fd, &node->info, sizeof node->info, 0) == sizeof node->info &&
                 node->info.device_count >= 0 && node->info.device_count <= VGPU_MAX_GPUS &&
                 (to->reply.error || to->reply.value == (uint64_t)node->info.device_count);
    if (count == 1)
        close(fd);
    return whole ? 0 : -1;
}

static int connect_witness(struct lab_node *node, char *error, size_t room)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer = {0};
    socklen_t bytes = sizeof peer;
    union answer to;
    memcpy(address.sun_path, node->path, sizeof node->path);
    node->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (node->socket < 0 || connect(node->socket, (struct sockaddr *)&address, sizeof address) != 0)
        return say(error, room, node->path, strerror(errno));
    if (getsockopt(node->socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0)
        node->pid = peer.pid;
    if (ask(node, VGPU_OP_WITNESS, 0) != 0 || read_info(node, &to) != 0)
        return say(error, room, node->path, "the node did not answer its witness");
    if (to.reply.error != 0)
        return say(error, room, "the node refused its witness", to.reply.explain);
    node->gpus = (int)to.reply.value;
    return 0;
}

struct lab_node *lab__node_start(const char *description, char *error, size_t room)
{
    struct lab_node *node = calloc(1, sizeof *node);
    if (!node) {
        say(error, room, "memory", strerror(errno));
        return NULL;
    }
    node->socket = -1;
    node->words = memfd_create("lab-node-words", MFD_CLOEXEC);
    make_id(node->id, sizeof node->id);
    if (vgpu_socket_path(node->id, node->path, sizeof node->path, error, room) == 0 &&
        spawn(node, description, error, room) == 0 && connect_witness(node, error, room) == 0)
        return node;
    lab__node_stop(node);
    return NULL;
}

void lab__node_stop(struct lab_node *node)
{
    if (!node)
        return;
    if (node->socket >= 0)
        close(node->socket);
    if (node->words >= 0)
        close(node->words);
    lab__kill_all(0);
    if (node->usage)
        munmap(node->usage, sizeof *node->usage);
    unlink(node->path);
    free(node);
}

bool lab__node_seal(struct lab_node *node, int fd, size_t readable, char *error, size_t room)
{
    union answer to;
    struct vgpu_request request = {.op = VGPU_OP_SEAL, .bytes = readable};
    snprintf(request.call, sizeof request.call, "witness");
    if (vgpu_send(node->socket, &request, sizeof request, &fd, 1) != 0 ||
        answer(node, &to, ANSWER_SECONDS) != 0)
        snprintf(error, room, "no answer");
    else if (to.reply.error != 0)
        snprintf(error, room, "%.*s", (int)sizeof to.reply.explain, to.reply.explain);
    else
        return true;
    return false;
}

/* ---- a node that failed ---- */

void lab__node_note(struct lab_node *node)
{
    if (!node->ended)
        node->ended = waitpid(node->pid, &node->status, WNOHANG) == node->pid;
}

/* The last line that it printed. */
static void last_words(const struct lab_node *node, char *text, size_t room)
{
    off_t end = node->words < 0 ? 0 : lseek(node->words, 0, SEEK_END);
    off_t from = end > (off_t)room - 1 ? end - ((off_t)room - 1) : 0;
    ssize_t n = end > 0 ? pread(node->words, text, room - 1, from) : 0;
    text[n > 0 ? n : 0] = 0;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = 0;
    char *line = strrchr(text, '\n');
    if (line)
        memmove(text, line + 1, strlen(line + 1) + 1);
}

void lab__node_failure(const struct lab_node *node, char *text, size_t room)
{
    char words[160], how[80] = "did not answer any more";
    last_words(node, words, sizeof words);
    if (node->ended && WIFSIGNALED(node->status))
        snprintf(how, sizeof how, "was ended by signal %d", WTERMSIG(node->status));
    else if (node->ended)
        snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(node->status));
    else if (node->nonsense)
        snprintf(how, sizeof how, "answered the verifier with what cannot be");
    snprintf(text, room, "%s%s%s%s", how, words[0] ? " (\"" : "", words, words[0] ? "\")" : "");
    lab__clean(text);
}

void lab__node_usage(const struct lab_node *node, char *text, size_t room)
{
    lab__tell_usage(node->usage, text, room);
}

/* ---- asking ---- */

/* Copies what a reply carries: it lies at an odd place there. */
static int summary_in(const union answer *from, struct vgpu_summary *to)
{
    if (from->reply.error != 0 || from->reply.data_bytes < sizeof *to)
        return -1;
    memcpy(to, from->reply.data, sizeof *to);
    return 0;
}

int lab__node_progress(struct lab_node *node, double seconds, uint64_t *progress, char *waiting,
                       size_t room)
{
    union answer to;
    struct vgpu_summary summary;
    if (!node->asked && ask(node, VGPU_OP_SUMMARY, 0) != 0)
        return 0;
    int rc = answer(node, &to, seconds);
    node->asked = rc == 1;
    if (rc != 0 || summary_in(&to, &summary) != 0)
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
        .issue_ps = from->issue_ps,
        .start_ps = from->start_ps,
        .end_ps = from->end_ps,
        .atomics = from->atomics,
        .barriers = from->barriers,
        .shared_accesses = from->shared_accesses,
        .shuffles = from->shuffles,
    };
    snprintf(to->name, sizeof to->name, "%.*s", (int)sizeof from->name - 1, from->name);
}

/* Findings of other kinds (a stray access) have no code with a dot in it. */
static void take_finding(struct lab_witness *w, const struct vgpu_trace_record *from)
{
    const char *name = from->name, *dot = memchr(name, '.', sizeof from->name);
    bool ours = dot && (strncmp(name, "kernels.", 8) == 0 || strncmp(name, "order.", 6) == 0);
    if (!w->finding[0] && ours)
        snprintf(w->finding, sizeof w->finding, "%.*s%s%.*s", (int)sizeof from->name - 1, name,
                 from->site[0] ? " at " : "", (int)sizeof from->site - 1, from->site);
}

static bool is_place(int device)
{
    return device >= -2 && device < VGPU_MAX_DEVICES; /* -1 and -2: the host's */
}

/* A bit for each device, and one for the host. */
static bool is_set_of_places(int set)
{
    return set >= 0 && set < 2 << VGPU_MAX_DEVICES;
}

static bool record_fits(const struct vgpu_trace_record *r)
{
    bool (*fits)(int) = r->kind == VGPU_TRACE_KERNEL ? is_set_of_places : is_place;
    return is_place(r->device) && fits(r->from) && fits(r->to);
}

/* Appends the records of one page of the trace; findings are taken out. */
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
    union answer to;
    for (uint64_t first = 0, total = 1; first < total;) {
        if (ask(node, VGPU_OP_TRACE, first) != 0 || answer(node, &to, ANSWER_SECONDS) != 0 ||
            to.reply.error != 0)
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
    union answer to;
    struct vgpu_summary summary;
    if (node->asked && answer(node, &to, ANSWER_SECONDS) != 0) {
        say(error, room, "vgpu-node", "it has ended, or does not answer any more");
        return NULL;
    }
    node->asked = false;
    if (ask(node, VGPU_OP_SUMMARY, 0) != 0 || answer(node, &to, ANSWER_SECONDS) != 0 ||
        summary_in(&to, &summary) != 0) {
        say(error, room, "vgpu-node", "no summary came: it has ended, or does not answer any more");
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
    say(error, room, "vgpu-node", "its trace could not be read");
    free((void *)w->records);
    free(w);
    return NULL;
}

const char *lab__node_fault(const struct lab_node *node)
{
    return node->fault;
}

const char *lab__node_id(const struct lab_node *node)
{
    return node->id;
}

pid_t lab__node_pid(const struct lab_node *node)
{
    return node->pid;
}

int lab__node_gpus(const struct lab_node *node)
{
    return node->gpus;
}

const struct vgpu_node_info *lab__node_info(const struct lab_node *node)
{
    return &node->info;
}

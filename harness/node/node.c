/* SPDX-License-Identifier: MIT
 * node.c: a virtual node for one runner: starting it, ending it, and describing its failure.
 *
 * The verifier starts the node, connects as a witness before the runner exists (so the node runs
 * until the verdict), reads its records after the runner has ended, and ends it.
 */
#include "connection.h"
#include "failure.h"
#include "output.h"
#include "process.h"

#include "run_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_SECONDS 120 /* depends on the machine, not on the student: generous */
#define END_SECONDS 10    /* from the end of the connection to the end of the process */

bool lab__node_virtual(void)
{
    return true;
}

/* Makes an id that no other verifier's node has. */
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

/* Whether the node inherits a variable. Left out: those that select another node, and the
 * verifier's secrets (LAB_SECRET, from which all sealed numbers of a submission are derived), since
 * the node handles requests of hostile code and may be compromised. */
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

/* Waits until the node listens: it then writes one line to its end of the pipe, "ok" or the
 * error. */
static int wait_until_ready(int ready, char *error, size_t room)
{
    struct pollfd wait = {.fd = ready, .events = POLLIN};
    char line[256] = "";
    size_t length = 0;
    for (ssize_t n = 1; n > 0 && length + 1 < sizeof line && !strchr(line, '\n');) {
        if (poll(&wait, 1, START_SECONDS * 1000) <= 0)
            return lab__node_error(error, room, "vgpu-node", "it did not get ready in 120 s");
        n = read(ready, line + length, sizeof line - 1 - length);
        length += n > 0 ? (size_t)n : 0;
        line[length] = 0;
    }
    line[strcspn(line, "\n")] = 0;
    if (strcmp(line, "ok") == 0)
        return 0;
    snprintf(error, room, "%s", line[0] ? line : "vgpu-node ended without a message");
    return -1;
}

static int spawn_lab_node(struct lab_node *node, const char *description, char *error, size_t room)
{
    char program[4096];
    char *argv[] = {program,      "--id", node->id,       "--ready-fd", "3",
                    "--usage-fd", "4",    "--foreground", NULL};
    int ready[2] = {-1, -1}, rc = -1;
    int usage = lab__memory_shared(sizeof *node->usage, (void **)&node->usage);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    char **env = node_environment(description);
    node_program(program, sizeof program);
    if (nothing >= 0 && usage >= 0 && env && pipe2(ready, O_CLOEXEC) == 0) {
        int fds[] = {nothing, nothing, node->words >= 0 ? node->words : nothing, ready[1], usage};
        pid_t pid = lab__spawn(argv, env, fds, 5);
        close(ready[1]);
        rc = pid < 0 ? lab__node_error(error, room, program, strerror(-pid))
                     : wait_until_ready(ready[0], error, room);
        close(ready[0]);
    } else {
        lab__node_error(error, room, "starting vgpu-node", strerror(errno));
    }
    if (nothing >= 0)
        close(nothing);
    if (usage >= 0)
        close(usage);
    free(env);
    return rc;
}

struct lab_node *lab__node_start(const char *description, char *error, size_t room)
{
    struct lab_node *node = calloc(1, sizeof *node);
    if (!node) {
        lab__node_error(error, room, "memory", strerror(errno));
        return NULL;
    }
    node->socket = -1;
    node->words = memfd_create("lab-node-words", MFD_CLOEXEC);
    make_id(node->id, sizeof node->id);
    if (vgpu_socket_path(node->id, node->path, sizeof node->path, error, room) == 0 &&
        spawn_lab_node(node, description, error, room) == 0 &&
        lab__node_connect(node, error, room) == 0)
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

/* ---- a node that failed ---- */

static bool has_hung_up(const struct lab_node *node)
{
    struct pollfd end = {.fd = node->socket};
    return poll(&end, 1, 0) == 1 && (end.revents & POLLHUP);
}

/* Waits for the node's process to end: its connection closes shortly before the process can be
 * reaped, longer on a busy machine or when it dumps core. */
void lab__node_note(struct lab_node *node)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    const double until = lab__seconds() + END_SECONDS;
    while (!node->ended) {
        pid_t gone = waitpid(node->pid, &node->status, WNOHANG);
        node->ended = gone == node->pid;
        if (gone != 0 || !has_hung_up(node) || lab__seconds() > until)
            return;
        nanosleep(&pause, NULL);
    }
}

/* The last line that the node printed. */
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
        snprintf(how, sizeof how, "sent the verifier an impossible answer");
    snprintf(text, room, "%s%s%s%s", how, words[0] ? " (\"" : "", words, words[0] ? "\")" : "");
    lab__clean(text);
}

void lab__node_usage(const struct lab_node *node, char *text, size_t room)
{
    lab__tell_usage(node->usage, text, room);
}

/* ---- what is known of the node ---- */

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

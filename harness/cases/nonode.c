/* SPDX-License-Identifier: MIT
 * nonode.c: takes the place of node.c on real GPUs. There is no node; the runner counts and tests
 * the machine's GPUs, because the verifier never loads a driver.
 */
#include "process.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool lab__node_virtual(void)
{
    return false;
}

/* ---- the GPUs of this test ---- */

/* One resource group per GPU: CTEST_RESOURCE_GROUP_0_GPUS="id:2,slots:1". */
void lab__take_gpus(void)
{
    const char *count = getenv("CTEST_RESOURCE_GROUP_COUNT");
    char list[LAB_VISIBLE_MAX] = "", name[64];
    size_t length = 0;
    for (int i = 0; count && i < atoi(count); i++) {
        snprintf(name, sizeof name, "CTEST_RESOURCE_GROUP_%d_GPUS", i);
        const char *given = getenv(name);
        int gpu;
        if (given && sscanf(given, "id:%d,", &gpu) == 1 && length + 16 < sizeof list)
            length += (size_t)sprintf(list + length, "%s%d", length ? "," : "", gpu);
    }
    if (length)
        setenv("CUDA_VISIBLE_DEVICES", list, 1);
}

/* Entry number `index` of a list, or a value that matches no GPU. */
static void put_entry(const char *list, long index, char *to, size_t room)
{
    for (; index > 0 && *list; index--) {
        list += strcspn(list, ",");
        list += *list == ',';
    }
    int length = (int)strcspn(list, ",");
    size_t used = strlen(to);
    if (index == 0 && length > 0)
        snprintf(to + used, room - used, "%.*s", length, list);
    else
        snprintf(to + used, room - used, "none");
}

void lab__visible(const char *wanted, char *to, size_t room)
{
    const char *ours = getenv("CUDA_VISIBLE_DEVICES");
    snprintf(to, room, "%s", ours ? "" : wanted);
    while (ours && *wanted) {
        char *end;
        long index = strtol(wanted, &end, 10);
        size_t length = strcspn(wanted, ",");
        if (end == wanted + length && length > 0 && index >= 0)
            put_entry(ours, index, to, room);
        else /* a UUID, or a value that a case made invalid on purpose */
            snprintf(to + strlen(to), room - strlen(to), "%.*s", (int)length, wanted);
        wanted += length + (wanted[length] == ',');
        if (*wanted)
            snprintf(to + strlen(to), room - strlen(to), ",");
    }
}

/* ---- what the GPUs report ---- */

#define ANSWER_SECONDS 60

/* Reads what the runner prints for `option` to stdout (1) or stderr (2). Of the student's code only
 * constructors run. False without output. */
static bool is_asked(struct lab_test *t, char *option, int from, char *text, size_t room)
{
    char *argv[] = {t->runner, option, NULL};
    int ends[2], nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || pipe2(ends, O_CLOEXEC) != 0)
        lab__broken(t, errno, "cannot ask the runner about the GPUs");
    int fds[] = {nothing, nothing, nothing};
    fds[from] = ends[1];
    pid_t pid = lab__spawn(argv, environ, fds, 3);
    close(nothing);
    close(ends[1]);
    if (pid < 0)
        lab__broken(t, -pid, "cannot start '%s %s'", t->runner, option);
    struct pollfd ready = {.fd = ends[0], .events = POLLIN};
    ssize_t n = poll(&ready, 1, ANSWER_SECONDS * 1000) == 1 ? read(ends[0], text, room - 1) : 0;
    close(ends[0]);
    text[n > 0 ? n : 0] = 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, n > 0 ? 0 : WNOHANG); /* a process blocked in the GPU driver may never end */
    return n > 0;
}

static int count_listed_gpus(struct lab_test *t)
{
    char text[300];
    if (is_asked(t, "--count-gpus", 1, text, sizeof text))
        return atoi(text);
    is_asked(t, "--count-gpus", 2, text, sizeof text);
    if (strstr(text, "libcuda.so")) /* lab 06's runner is linked with the driver's library: without
                                       it there are no GPUs */
        return 0;
    lab__broken(t, 0, "'%s --count-gpus' gave no answer: %s", t->runner, text);
}

/* Counted once: two H200s take half a second, and tests call this for each of their ranks. */
int lab_gpus(struct lab_test *t)
{
    static int gpus = -1;
    if (gpus < 0)
        gpus = count_listed_gpus(t);
    return gpus;
}

void lab__check_gpus(struct lab_test *t)
{
    char text[300];
    if (!is_asked(t, "--check-gpus", 1, text, sizeof text))
        lab__broken(t, 0,
                    "the GPUs have not answered for %d s since the program was ended: look at "
                    "nvidia-smi before you run more tests",
                    ANSWER_SECONDS);
    if (strncmp(text, "ok", 2) != 0)
        lab__broken(t, 0, "after the program was ended, %s", text);
}

bool lab_device(struct lab_test *t, int gpu, struct lab_device *to)
{
    (void)t, (void)gpu, (void)to;
    return false;
}

struct lab_node *lab__node_start(const char *description, char *error, size_t room)
{
    (void)description;
    snprintf(error, room, "this verifier was built for real GPUs");
    return NULL;
}

bool lab__node_seal(struct lab_node *node, int fd, size_t readable, char *error, size_t room)
{
    (void)node, (void)fd, (void)readable, (void)error, (void)room;
    return true;
}

bool lab__node_look_for(struct lab_node *node, const char *checks, char *error, size_t room)
{
    (void)node, (void)checks, (void)error, (void)room;
    return true;
}

const char *lab__node_id(const struct lab_node *node)
{
    (void)node;
    return "";
}

pid_t lab__node_pid(const struct lab_node *node)
{
    (void)node;
    return 0;
}

void lab__node_note(struct lab_node *node)
{
    (void)node;
}

void lab__node_failure(const struct lab_node *node, char *text, size_t room)
{
    (void)node;
    snprintf(text, room, "is not used on real GPUs");
}

void lab__node_usage(const struct lab_node *node, char *text, size_t room)
{
    (void)node;
    snprintf(text, room, "no request was sent to one");
}

int lab__node_progress(struct lab_node *node, double seconds, uint64_t *progress, char *waiting,
                       size_t room)
{
    (void)node, (void)seconds, (void)progress, (void)waiting, (void)room;
    return 0;
}

struct lab_witness *lab__node_witness(struct lab_node *node, char *error, size_t room)
{
    (void)node, (void)error, (void)room;
    return NULL;
}

const char *lab__node_fault(const struct lab_node *node)
{
    (void)node;
    return "";
}

void lab__node_stop(struct lab_node *node)
{
    (void)node;
}

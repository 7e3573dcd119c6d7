/* SPDX-License-Identifier: MIT
 * nonode.c: in place of node.c on real GPUs. There is no node; the machine's GPUs are counted by
 * the runner, because the verifier never loads a driver.
 */
#define _GNU_SOURCE
#include "verifier.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

bool lab__node_virtual(void)
{
    return false;
}

/* Before any input is there, so no code of the student's runs but constructors. */
int lab_gpus(struct lab_test *t)
{
    char *argv[] = {t->runner, "--count-gpus", NULL};
    char text[32] = "";
    int ends[2], nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || pipe2(ends, O_CLOEXEC) != 0)
        lab__broken(t, 0, "cannot ask the runner how many GPUs there are");
    int fds[] = {nothing, ends[1], nothing};
    pid_t pid = lab__spawn(argv, environ, fds, 3);
    close(nothing);
    close(ends[1]);
    ssize_t n = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    if (pid < 0 || n <= 0)
        lab__broken(t, pid < 0 ? -pid : 0, "'%s --count-gpus' gave no answer", t->runner);
    waitpid(pid, NULL, 0);
    return atoi(text);
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

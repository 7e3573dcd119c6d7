/* SPDX-License-Identifier: MIT
 * check.c: vgpu-check: runs a program with all checks and prints how many mistakes were found.
 *
 * It starts a node of its own and stays connected to it as a witness, so that the node still exists
 * when the program and all processes that it started have ended.
 */
#include "core.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "feature_list.h"
#include "number.h"
#include "wire.h"

enum { FOUND = 99, ANSWER_MS = 60000, CANNOT = 125, NO_PROGRAM = 127 };

union answer {
    struct vgpu_reply reply;
    uint8_t room[VGPU_MSG_MAX];
};

static int print_usage(FILE *to)
{
    fprintf(to,
            "usage: vgpu-check [--checks=WORDS] [--found=STATUS] PROGRAM [ARGUMENT...]\n"
            "\n"
            "Runs PROGRAM on a virtual node of its own and reports what is wrong with it:\n"
            "  order    accesses to the same memory that nothing orders\n"
            "  kernels  mistakes inside kernels\n"
            "  api      errors that were not checked, wrong devices, events never recorded\n"
            "  leaks    what was not freed at the end\n"
            "  advice   what is correct but slower than it need be\n"
            "WORDS are some of these with commas between; default: all. The exit status is the\n"
            "program's, or STATUS (%d) if that is 0 and something was found, advice aside.\n"
            "\n"
            "VGPU_SCHEDULE=7 vgpu-check PROGRAM: in another order that CUDA allows.\n"
            "VGPU_SCHEDULE=weak (or weak:7): where a missing fence changes results, too.\n"
            "\n"
            "It ends with a report: which features that PROGRAM used behave as on a GPU.\n"
            "(VGPU_REPORT=1 prints it without vgpu-check.) These are all lines that it may have:\n",
            FOUND);
    vgpu_features_print(to, VGPU_FEATURES_ALL);
    return to == stdout ? 0 : CANNOT;
}

/* ---- the node ---- */

static int send_request(int node, enum vgpu_op op, union answer *to)
{
    struct vgpu_request request = {.op = op, .peer = -1, .call = "vgpu-check"};
    struct pollfd wait = {.fd = node, .events = POLLIN};
    int fds[VGPU_WIRE_FDS], count = VGPU_WIRE_FDS;
    int ready = -1;
    if (vgpu_send(node, &request, sizeof request, NULL, 0) != 0)
        return -1;
    while ((ready = poll(&wait, 1, ANSWER_MS)) < 0 && errno == EINTR)
        ;
    if (ready <= 0)
        return -1;
    ssize_t got = vgpu_receive(node, to, sizeof *to, fds, &count, 0);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    return got >= (ssize_t)sizeof to->reply && to->reply.error == 0 ? 0 : -1;
}

static int start_checked_node(void)
{
    char id[64], why[512] = "";
    union answer to;
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    snprintf(id, sizeof id, "check-%d-%lx", (int)getpid(), (unsigned long)now.tv_nsec);
    setenv("VGPU_NODE_ID", id, 1);
    int node = vgpu__reach_node(why, sizeof why);
    if (node >= 0 && send_request(node, VGPU_OP_WITNESS, &to) == 0)
        return node;
    fprintf(stderr, "vgpu-check: no virtual node: %s\n", why[0] ? why : "it does not answer");
    return -1;
}

/* ---- the program ---- */

/* Returns the program's exit status as a shell does; -1: it could not be started (reported on
 * stderr). */
static int run_program(char **argv)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        fprintf(stderr, "vgpu-check: %s: %s\n", argv[0], strerror(errno));
        _exit(NO_PROGRAM);
    }
    signal(SIGINT, SIG_IGN); /* the program handles it */
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0) {
        fprintf(stderr, "vgpu-check: %s: %s\n", argv[0], strerror(errno));
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int report_findings(int node, int status, int found)
{
    union answer to;
    struct vgpu_summary summary;
    if (send_request(node, VGPU_OP_SUMMARY, &to) != 0 || to.reply.data_bytes < sizeof summary) {
        fprintf(stderr, "vgpu-check: the node did not report its findings\n");
        return CANNOT;
    }
    memcpy(&summary, to.reply.data, sizeof summary);
    if (summary.features) {
        fprintf(stderr, "vgpu-check: report: of what the program used,\n");
        vgpu_features_print(stderr, summary.features);
    }
    if (summary.processes == 0)
        fprintf(stderr, "vgpu-check: the program has made no CUDA call\n");
    else
        fprintf(stderr, "vgpu-check: %u finding%s, %u piece%s of advice\n", summary.findings,
                summary.findings == 1 ? "" : "s", summary.advice, summary.advice == 1 ? "" : "s");
    return status == 0 && summary.findings ? found : status;
}

int main(int argc, char **argv)
{
    const char *checks = "all", *number = NULL;
    int found = FOUND, at = 1;
    uint32_t bits;
    char bad[32];
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--help") == 0)
            return print_usage(stdout);
        if (strncmp(argv[at], "--checks=", 9) == 0)
            checks = argv[at] + 9;
        else if (strncmp(argv[at], "--found=", 8) == 0)
            number = argv[at] + 8;
        else
            return print_usage(stderr);
        uint64_t status;
        if (number && !vgpu_number(number, 0, 255, &status))
            return print_usage(stderr);
        found = number ? (int)status : found;
    }
    if (at == argc)
        return print_usage(stderr);
    if (!vgpu_check_parse(checks, &bits, bad, sizeof bad)) {
        fprintf(stderr, "vgpu-check: there is no check \"%s\"\n", bad);
        return print_usage(stderr);
    }
    setenv("VGPU_CHECK", checks, 1);
    unsetenv("VGPU_QUIET");
    setenv("VGPU_REPORT", "check", 1); /* the node is told; the program does not print it */
    int node = start_checked_node();
    int status = node < 0 ? -1 : run_program(argv + at);
    return status < 0 ? CANNOT : report_findings(node, status, found);
}

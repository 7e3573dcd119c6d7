/* SPDX-License-Identifier: MIT
 * test_spawner.c: a node that was taken over gives orders to the process beside it, which has the
 * grader's rights (node/system/spawner.c): about processes that are not its contexts, with
 * descriptors that are no pair of the node's own, and of a form that no node sends. Each is
 * refused, nothing is signalled, and what is right is carried out all the same.
 *
 *     test_node_spawner
 */
#include "../../vgpu/node/system/spawner.c"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/un.h>

static int failures;
static const char *self;
static pid_t victim, stranger; /* started by the process that started the node; by another one */

#define EXPECT(held, ...)                                                                          \
    do {                                                                                           \
        if (!(held)) {                                                                             \
            failures++;                                                                            \
            fprintf(stderr, "line %d: ", __LINE__);                                                \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fprintf(stderr, "\n");                                                                 \
        }                                                                                          \
    } while (0)

static pid_t sleeper(void)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    return pid;
}

/* ---- orders ---- */

static void refused(const char *what, struct order order, const int *fds, int fd_count)
{
    int got = ask_spawner(&order, fds, fd_count);
    EXPECT(got == -1 && errno == EPERM, "not refused: %s (%d, %s)", what, got, strerror(errno));
}

static void try_signals(void)
{
    const struct {
        const char *who;
        pid_t pid;
    } others[] = {{"a program", victim},     {"the verifier", starter}, {"the node", getpid()},
                  {"another's", stranger},   {"everybody", -1},         {"its own group", 0},
                  {"a whole group", -victim}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        refused(others[i].who, (struct order){.op = END, .pid = {others[i].pid}}, NULL, 0);
        refused(others[i].who, (struct order){.op = HANG, .pid = {others[i].pid}}, NULL, 0);
    }
    EXPECT(kill(victim, 0) == 0 && kill(stranger, 0) == 0, "somebody was ended");
}

static void try_looks(void)
{
    refused("a look at another's", (struct order){.op = ASLEEP, .count = 1, .pid = {stranger}},
            NULL, 0);
    refused("a look at the verifier", (struct order){.op = ASLEEP, .count = 1, .pid = {starter}},
            NULL, 0);
    refused("a look at the node", (struct order){.op = ASLEEP, .count = 1, .pid = {getpid()}}, NULL,
            0);
    refused("one of two is another's",
            (struct order){.op = ASLEEP, .count = 2, .pid = {victim, stranger}}, NULL, 0);
    refused("fewer than none", (struct order){.op = ASLEEP, .count = -1}, NULL, 0);
    refused("too many", (struct order){.op = ASLEEP, .count = PROGRAMS + 1}, NULL, 0);
    enum quiescence found = spawner_quiescence(&victim, 1);
    EXPECT(found == QUIESCENT_YES || found == QUIESCENT_NO, "a program: %d", found);
}

/* One end of a pair that another process has made. */
static int others_pair(void)
{
    int carrier[2], got = -1, count = 1;
    char byte;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, carrier) != 0)
        exit(2);
    pid_t pid = fork();
    if (pid == 0) {
        int pair[2];
        _exit(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0 ||
              vgpu_send(carrier[1], "", 1, pair, 1) != 0);
    }
    vgpu_receive(carrier[0], &byte, 1, &got, &count, 0);
    waitpid(pid, NULL, 0);
    close(carrier[0]);
    close(carrier[1]);
    return got;
}

static int listening(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0 || listen(fd, 1) != 0)
        exit(2);
    return fd;
}

static void try_descriptors(void)
{
    const struct order order = {.op = START}, end = {.op = END, .pid = {victim}};
    int pipes[2], stream[2], pair[2], memory = memfd_create("verdict", MFD_CLOEXEC);
    int others = others_pair(), listener = listening();
    if (pipe(pipes) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, stream) != 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
        exit(2);
    refused("a context without a socket", order, NULL, 0);
    refused("a context with two", order, pair, 2);
    refused("a context with a file", order, &memory, 1);
    refused("a context with a pipe", order, pipes, 1);
    refused("a context with a stream", order, stream, 1);
    refused("a context with another's socket", order, &others, 1);
    refused("a context with the node's listener", order, &listener, 1);
    refused("an end with a descriptor", end, pair, 1);
    refused("an order that does not exist", (struct order){.op = (enum spawner_op)77}, NULL, 0);
    refused("an order below all", (struct order){.op = (enum spawner_op) - 1}, NULL, 0);
    for (int i = 0; i < 2; i++) {
        close(pipes[i]);
        close(stream[i]);
        close(pair[i]);
    }
    close(memory);
    close(others);
    close(listener);
}

/* ---- a context, which inherits the filter ---- */

/* Says how many of these were not refused. */
static int as_context(void)
{
    int passed = 0;
    passed += ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
    passed += socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
    passed += socket(AF_INET, SOCK_STREAM, 0) >= 0;
    passed += syscall(SYS_keyctl, 0, -3, 1) >= 0;
    passed += syscall(SYS_shmget, 0, 4096, 01600) >= 0;
    passed += syscall(425 /* io_uring_setup */, 1, NULL) >= 0 || errno != EPERM;
    uint8_t done = (uint8_t)passed;
    if (vgpu_send(3, &done, 1, NULL, 0) != 0)
        return 1;
    for (;;)
        pause();
}

static void try_what_is_right(void)
{
    int pair[2];
    uint8_t done = 99;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        exit(2);
    pid_t context = spawner_start(pair[1]);
    EXPECT(context > 0, "no context: %s", strerror(errno));
    close(pair[1]);
    EXPECT(vgpu_receive(pair[0], &done, 1, NULL, NULL, 0) == 1, "the context said nothing");
    EXPECT(done == 0, "a context may do %d things that the helper may not", done);
    refused("a look at a context", (struct order){.op = ASLEEP, .count = 1, .pid = {context}}, NULL,
            0);
    spawner_end(context);
    EXPECT(kill(context, 0) == -1 && errno == ESRCH, "the context was not ended");
    refused("its end once more", (struct order){.op = END, .pid = {context}}, NULL, 0);
    close(pair[0]);
}

/* Of another length than an order: it hears nothing more, and ends what it has started. */
static void try_length(void)
{
    int pair[2];
    uint8_t byte;
    struct done done;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        exit(2);
    EXPECT(spawner_start(pair[1]) > 0, "no context: %s", strerror(errno));
    close(pair[1]);
    EXPECT(vgpu_receive(pair[0], &byte, 1, NULL, NULL, 0) == 1, "the context said nothing");
    vgpu_send(channel, "?", 1, NULL, 0);
    EXPECT(vgpu_receive(channel, &done, sizeof done, NULL, NULL, 0) <= 0, "it was answered");
    EXPECT(vgpu_receive(pair[0], &byte, 1, NULL, NULL, 0) <= 0, "its context goes on");
    close(pair[0]);
}

static int as_node(void)
{
    char words[4200], file[] = "/tmp/vgpu-spawner-XXXXXX";
    int made = mkstemp(file);
    snprintf(words, sizeof words, "%s\ncontext", self);
    setenv("VGPU_EXEC_LAUNCHER", words, 1);
    spawner_set_program("/nothing");
    if (made < 0 || !spawner_leave(file))
        return 2;
    try_signals();
    try_looks();
    try_descriptors();
    try_what_is_right();
    try_length();
    EXPECT(access(file, F_OK) != 0, "what it was to remove is there");
    printf("%s\n", failures ? "see above" : "each hostile order was refused");
    return failures ? 1 : 0;
}

/* The verifier's part: it starts the node and programs, and adopts what they leave behind. */
static int as_starter(void)
{
    int status = 2;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    victim = sleeper();
    pid_t node = fork();
    if (node == 0)
        exit(as_node());
    waitpid(node, &status, 0);
    EXPECT(waitpid(victim, NULL, WNOHANG) == 0, "the program was ended");
    kill(victim, SIGKILL);
    return WIFEXITED(status) && !failures ? WEXITSTATUS(status) : 1;
}

/* The other numbers of x86-64's calls, which the kernel takes for the same architecture. */
static void try_x32(void)
{
#if defined __x86_64__
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        if (!helper_filter_close())
            _exit(3);
        syscall(0x40000000 | SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL);
        _exit(2);
    }
    waitpid(pid, &status, 0);
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "x32's call: status %#x", status);
#endif
}

int main(int argc, char **argv)
{
    static char path[4096];
    int status = 2;
    if (argc > 1 && strcmp(argv[1], "context") == 0)
        return as_context();
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    self = n > 0 ? path : argv[0];
    try_x32();
    stranger = sleeper();
    pid_t pid = fork();
    if (pid == 0)
        exit(as_starter());
    waitpid(pid, &status, 0);
    kill(stranger, SIGKILL);
    return WIFEXITED(status) && !failures ? WEXITSTATUS(status) : 1;
}

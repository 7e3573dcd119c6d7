/* SPDX-License-Identifier: MIT
 * test_witness.c: a node that was taken over answers the verifier's questions with counts, lengths
 * and places that cannot be: the verifier says that it could not tell, and reads nothing that did
 * not come. Built with AddressSanitizer where the compiler has it.
 */
#include "../../harness/node/node.c"
#include "../../harness/node/observed.c"

#include <stdio.h>
#include <sys/socket.h>

#include "wire.h"

/* What node.c needs of the rest of the verifier. */
pid_t lab__spawn(char *const argv[], char *const envp[], const int *fds, int fd_count)
{
    (void)argv, (void)envp, (void)fds, (void)fd_count;
    return -1;
}

double lab__seconds(void)
{
    return 0;
}

void lab__kill_all(pid_t spare)
{
    (void)spare;
}

int lab__memory_shared(size_t bytes, void **at)
{
    (void)bytes, (void)at;
    return -1;
}

void lab__clean(char *text)
{
    (void)text;
}

static int failures;

static union node_answer said;

static void begin(uint32_t data_bytes)
{
    memset(&said, 0, sizeof said);
    said.reply.data_bytes = data_bytes;
}

static void expect(const char *what, bool held)
{
    if (held)
        return;
    failures++;
    fprintf(stderr, "%s: it was believed\n", what);
}

/* Asks for the trace of a node that has said this already. -1: not believed. */
static int trace_of(size_t bytes)
{
    int pair[2];
    struct lab_witness w = {0};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
        exit(2);
    struct lab_node node = {.socket = pair[0]};
    for (int i = 0; i < 4; i++)
        vgpu_send(pair[1], &said, bytes, NULL, 0);
    int rc = read_trace(&node, &w);
    free((void *)w.records);
    close(pair[0]);
    close(pair[1]);
    return rc;
}

static void test_counts(void)
{
    begin(64);
    said.reply.value = 1ull << 61; /* times a record's size: nothing */
    said.reply.value2 = 1ull << 62;
    expect("2^61 records", trace_of(sizeof said.reply + 64) != 0);
    begin(4000);
    said.reply.value = 20;
    said.reply.value2 = 20;
    expect("more data than came", trace_of(sizeof said.reply + 64) != 0);
    begin(sizeof(struct vgpu_trace_record));
    said.reply.value = 1;
    said.reply.value2 = ~0ull;
    expect("a trace without an end", trace_of(sizeof said.reply + said.reply.data_bytes) != 0);
}

static bool is_believed(struct vgpu_trace_record record)
{
    begin(sizeof record);
    memcpy(said.reply.data, &record, sizeof record);
    said.reply.value = said.reply.value2 = 1;
    return trace_of(sizeof said.reply + sizeof record) == 0;
}

static void expect_belief(const char *what, struct vgpu_trace_record record)
{
    if (is_believed(record))
        return;
    failures++;
    fprintf(stderr, "%s: it was not believed\n", what);
}

static void test_places(void)
{
    const int all = (2 << VGPU_MAX_DEVICES) - 1; /* every GPU, and the host */
    struct vgpu_trace_record copy = {.kind = VGPU_TRACE_COPY, .device = 1, .to = -1};
    struct vgpu_trace_record kernel = {.kind = VGPU_TRACE_KERNEL, .device = 7, .from = all};

    expect_belief("a copy to pinned memory", copy);
    copy.to = LAB_SEALED;
    expect_belief("a copy to sealed memory", copy);
    expect_belief("a kernel that read everybody's memory", kernel);
    copy.device = 1 << 20;
    expect("a GPU of number 2^20", !is_believed(copy));
    copy = (struct vgpu_trace_record){.kind = VGPU_TRACE_COPY, .from = -77};
    expect("a copy from place -77", !is_believed(copy));
    kernel.to = all + 1;
    expect("a kernel that wrote to a place that is not there", !is_believed(kernel));
}

/* It must not be found in the node's memory by code that has taken the node over. */
static void test_secret(void)
{
    setenv("LAB_SECRET", "17", 1);
    setenv("VGPU_NODE_JAIL", "descriptors 64", 1);
    char **env = node_environment("single");
    bool secret = false, jail = false;
    for (int i = 0; env && env[i]; i++) {
        secret |= strstr(env[i], "LAB_SECRET") != NULL;
        jail |= strcmp(env[i], "VGPU_NODE_JAIL=descriptors 64") == 0;
    }
    free(env);
    if (!secret && jail)
        return;
    failures++;
    fprintf(stderr, "the node has %s\n", secret ? "LAB_SECRET" : "no jail");
}

/* What is told of a program that had done these things when the node failed. */
static void expect_told(const char *words, struct vgpu_usage usage)
{
    static struct vgpu_usage_page page;
    char text[200];
    page.program[0] = (struct vgpu_usage){.requests = 1};
    page.program[5] = usage;
    lab__tell_usage(&page, text, sizeof text);
    if (strcmp(text, words) == 0)
        return;
    failures++;
    fprintf(stderr, "'%s' was told, and not '%s'\n", text, words);
}

static void test_usage(void)
{
    struct vgpu_usage usage = {.requests = 299, .unread = 1, .operations = 7, .rows = 9};
    expect_told("it had sent 300 requests, none of them unusual", usage);
    usage.operations = 1 << 18;
    expect_told("it had 262144 operations queued at a time", usage);
    usage.rows = 1 << 29;
    expect_told("it had 536870912 rows copied or filled", usage);
    usage.malformed = 12;
    expect_told("12 of its 300 requests were malformed", usage);
    usage.unread = 215;
    expect_told("it had sent 215 requests without reading a reply", usage);
    usage.bad_answers = 1;
    expect_told("its kernels had sent the node 1 impossible answers", usage);
}

int main(void)
{
    test_counts();
    test_places();
    test_usage();
    test_secret();
    printf("%s\n", failures ? "see above" : "impossible answers were not believed");
    return failures != 0;
}

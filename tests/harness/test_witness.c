/* SPDX-License-Identifier: MIT
 * test_witness.c: a node that was taken over answers the verifier's questions with counts, lengths
 * and places that cannot be: the verifier says that it could not tell, and reads nothing that did
 * not come. Built with AddressSanitizer where the compiler has it.
 */
#include "../../harness/node/node.c"

#include <stdio.h>

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

void lab__clean(char *text)
{
    (void)text;
}

static int failures;

static union answer said;

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
    expect_belief("a kernel that read everybody's memory", kernel);
    copy.device = 1 << 20;
    expect("a GPU of number 2^20", !is_believed(copy));
    copy = (struct vgpu_trace_record){.kind = VGPU_TRACE_COPY, .from = -77};
    expect("a copy from place -77", !is_believed(copy));
    kernel.to = all + 1;
    expect("a kernel that wrote to a place that is not there", !is_believed(kernel));
}

int main(void)
{
    test_counts();
    test_places();
    printf("%s\n", failures ? "see above" : "what cannot be was not believed");
    return failures != 0;
}

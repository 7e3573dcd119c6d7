/* SPDX-License-Identifier: MIT
 * test_share.c: kernels whose blocks run in several processes: what they leave, what they count and
 * what is said about them is what one process leaves, counts and says.
 *
 *     test-exec-share          all of that
 *     test-exec-share stuck    a helper in an endless loop is found (takes 30 s: no test)
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREE, STRAY, STUCK, BLOCKS = 32768, THREADS = 64, LATE = 30001, NEVER = -1 };
static const uint64_t in = OWN, out = OWN + (8 << 20);

int failures;

void check_failed(const char *file, int line, const char *what, unsigned long long got,
                  unsigned long long want)
{
    failures++;
    fprintf(stderr, "%s:%d: %s: got %llu, want %llu\n", file, line, what, got, want);
}

struct outcome {
    uint32_t sums[BLOCKS];
    bool helped;
    struct vgpu_exec_reply reply;
};

static struct outcome alone, shared;

/* Whether the context has waited for processes of its own: their page faults are its. */
static bool was_helped(pid_t pid)
{
    char path[40], line[600];
    unsigned long faults = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (end)
        sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %lu", &faults);
    if (file)
        fclose(file);
    return faults > 0;
}

static void run(struct outcome *to, const char *image, const char *workers, int kernel,
                uint64_t late)
{
    struct rig rig = {.image = image};
    setenv("VGPU_WORKERS", workers, 1);
    rig_start(&rig);
    rig_map(&rig, 0, RIG_MEMORY, true);
    for (uint32_t i = 0; i < 65536; i++)
        rig_words(&rig, 0)[i] = i * 2654435761u;
    memset(rig.control->chunk, 1, 4); /* what the node has written to */
    rig_run(&rig, (enum kernel_number)kernel, GRID(BLOCKS, THREADS), in, out, late);
    to->reply = rig.reply;
    memcpy(to->sums, rig_words(&rig, out - OWN), sizeof to->sums);
    to->helped = was_helped(rig.pid);
    CHECK(rig_stop(&rig), 0);
}

static void same_outcome(int kernel, uint64_t late, int status)
{
    static const char *const workers[] = {"2", "3", "8"};
    run(&alone, SHARE_IMAGE_PATH, "1", kernel, late);
    CHECK(alone.helped, false);
    CHECK(alone.reply.status, status);
    for (unsigned i = 0; i < sizeof workers / sizeof *workers; i++) {
        run(&shared, SHARE_IMAGE_PATH, workers[i], kernel, late);
        CHECK(shared.helped, true);
        CHECK(shared.reply.status, status);
        CHECK(strcmp(shared.reply.text, alone.reply.text), 0);
        CHECK(memcmp(&shared.reply.fault, &alone.reply.fault, sizeof alone.reply.fault), 0);
        if (status != VGPU_RAN)
            continue;
        CHECK(memcmp(&shared.reply.counts, &alone.reply.counts, sizeof alone.reply.counts), 0);
        CHECK(memcmp(shared.sums, alone.sums, sizeof alone.sums), 0);
    }
}

/* Atomics anywhere in the image: its blocks run one after the other. */
static void never_with_atomics(void)
{
    run(&shared, NULL, "4", K_reduce, BLOCKS * THREADS);
    CHECK(shared.reply.status, VGPU_RAN);
    CHECK(shared.helped, false);
}

static void stuck(void)
{
    run(&shared, SHARE_IMAGE_PATH, "2", STUCK, LATE);
    CHECK(shared.helped, true);
    CHECK(shared.reply.status, VGPU_FAULTED);
    CHECK(shared.reply.fault.kind, VGPU_FAULT_HANG);
    CHECK(shared.reply.fault.block.x, LATE);
    printf("%s: %s\n", shared.reply.fault.where, shared.reply.text);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "stuck") == 0) {
        stuck();
        return failures != 0;
    }
    same_outcome(TREE, (uint64_t)NEVER, VGPU_RAN);
    same_outcome(TREE, LATE, VGPU_RAN);
    CHECK(strstr(shared.reply.text, "division by zero") != NULL, true);
    same_outcome(STRAY, LATE, VGPU_FAULTED);
    CHECK(shared.reply.fault.block.x, LATE);
    CHECK(shared.reply.fault.thread.x, 3);
    never_with_atomics();
    printf("%d failed checks\n", failures);
    return failures != 0;
}

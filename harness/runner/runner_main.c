/* SPDX-License-Identifier: MIT
 * runner_main.c: the main function of every runner.
 *
 *     lab03-run-2 WHAT        (started by lab03-check, with descriptors 3, 4 and 5)
 *
 * It is linked with the student's code and holds nothing worth forging: the input, room for the
 * output, and the page on which it reports that it has finished.
 */
#include "runner.h"
#include "runner_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct lab_io {
    const void *input;
    size_t input_bytes;
    void *output;
    size_t output_bytes;
};

extern const struct lab_entry lab_runs[];

static void refuse_request(const char *text, size_t want, size_t have) __attribute__((noreturn));

/* The adapter does not fit the case: a mistake in the lab, never the student's. */
static void refuse_request(const char *text, size_t want, size_t have)
{
    snprintf(lab__status->text, sizeof lab__status->text, "%s (%zu wanted, %zu there)", text, want,
             have);
    lab__status->state = LAB_STATE_BROKEN;
    _exit(LAB_RUNNER_BROKEN);
}

const void *lab_input(struct lab_io *io, size_t bytes)
{
    if (bytes > io->input_bytes)
        refuse_request("the adapter reads more input bytes than the case gave", bytes,
                       io->input_bytes);
    return io->input;
}

size_t lab_input_bytes(const struct lab_io *io)
{
    return io->input_bytes;
}

void *lab_result(struct lab_io *io, size_t bytes)
{
    if (bytes > io->output_bytes)
        refuse_request("the adapter writes more output bytes than the case left room for", bytes,
                       io->output_bytes);
    return io->output;
}

const void *lab_sealed_input(void)
{
    return lab__sealed();
}

void *lab_sealed_result(void)
{
    return lab__sealed() + lab__status->sealed_input_bytes;
}

void lab_doing(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(lab__own_step, sizeof lab__own_step, format, args);
    va_end(args);
    if (lab__status)
        memcpy(lab__status->text, lab__own_step, sizeof lab__status->text);
}

/* Maps all of a descriptor's file and closes it. An empty file gets a valid address, too. */
static void *map_whole(int fd, int protection, size_t *bytes)
{
    static char nothing[16];
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return NULL;
    *bytes = (size_t)info.st_size;
    void *at = nothing;
    if (*bytes > 0)
        at = mmap(NULL, *bytes, protection, MAP_SHARED, fd, 0);
    close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static int open_channels(struct lab_io *io)
{
    size_t status_bytes = 0;
    io->input = map_whole(LAB_FD_INPUT, PROT_READ, &io->input_bytes);
    io->output = map_whole(LAB_FD_OUTPUT, PROT_READ | PROT_WRITE, &io->output_bytes);
    struct lab_status *status = map_whole(LAB_FD_STATUS, PROT_READ | PROT_WRITE, &status_bytes);
    if (!io->input || !io->output || !status || status_bytes < sizeof *status ||
        status->magic != LAB_STATUS_MAGIC)
        return -1;
    lab__status = status;
    return 0;
}

static const struct lab_entry *find_entry(const char *name)
{
    for (const struct lab_entry *e = lab_runs; e->name; e++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}

static int print_usage(const char *program)
{
    fprintf(stderr,
            "%s: this program is started by the lab's tests; it cannot be run alone.\n"
            "  It knows:",
            program);
    for (const struct lab_entry *e = lab_runs; e->name; e++)
        fprintf(stderr, " %s", e->name);
    fprintf(stderr, "\n  Run the tests with: ctest -R labNN, or ./lab test NN\n");
    return 2;
}

/* A process that the adapter has forked, a rank for example, came to a TODO or called what it may
 * not: it has said so on the page, and left. The runner leaves in the same way. */
static void leave_as_child(void)
{
    if (lab__status->state == LAB_STATE_NOT_WRITTEN)
        _exit(LAB_RUNNER_NOT_WRITTEN);
    if (lab__status->state == LAB_STATE_TRAPPED)
        _exit(LAB_RUNNER_TRAPPED);
}

int main(int argc, char **argv)
{
    struct lab_io io;
    if (argc == 2 && strcmp(argv[1], "--count-gpus") == 0) {
        printf("%d\n", lab__count_gpus());
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--check-gpus") == 0)
        return lab__check_each_gpu();
    if (argc != 2 || open_channels(&io) != 0)
        return print_usage(argv[0]);
    const struct lab_entry *entry = find_entry(argv[1]);
    if (!entry)
        refuse_request("the runner does not know the function that the case asks for", 1, 0);
    lab__catch_crashes();
    if (!entry->forks)
        lab__count_before(lab__status);
    entry->run(&io);
    if (!entry->forks)
        lab__count_after(lab__status);
    fflush(NULL);
    leave_as_child();
    lab__status->state = LAB_STATE_FINISHED;
    _exit(LAB_RUNNER_FINISHED);
}

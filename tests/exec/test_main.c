/* SPDX-License-Identifier: MIT
 * test_main.c: runs the cases of vgpu-exec: all of them, or those named on the command line.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int failures;

void check_failed(const char *file, int line, const char *what, unsigned long long got,
                  unsigned long long want)
{
    failures++;
    fprintf(stderr, "%s:%d: %s: got %llu (0x%llx), want %llu (0x%llx)\n", file, line, what, got,
            got, want, want);
}

void check_text(const char *file, int line, const char *text, const char *part)
{
    if (strstr(text, part))
        return;
    failures++;
    fprintf(stderr, "%s:%d: got the text \"%s\", want one with \"%s\"\n", file, line, text, part);
}

static void play(const struct test_case *test)
{
    struct rig rig = {0};
    alarm(60);
    rig_start(&rig);
    rig_map(&rig, 0, RIG_MEMORY, true);
    test->body(&rig);
    CHECK(rig_stop(&rig), 0);
}

/* In a process of its own: what ends it ends no other case, and the failed one is named. */
static bool passes(const struct test_case *test)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        play(test);
        _exit(failures > 0);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    if (status != 0)
        fprintf(stderr, "FAILED: %s (wait status %#x)\n", test->name, (unsigned)status);
    return status == 0;
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(name, argv[i]) == 0)
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    static const struct test_case *const lists[] = {plain_cases, sync_cases, wait_cases};
    int count = 0, failed = 0;
    for (int list = 0; list < 3; list++)
        for (const struct test_case *test = lists[list]; test->name; test++)
            if (wanted(test->name, argc, argv)) {
                count++;
                failed += !passes(test);
            }
    if (count == 0)
        fprintf(stderr, "no case has that name\n");
    printf("%d cases, %d failed\n", count, failed);
    return count == 0 || failed != 0;
}

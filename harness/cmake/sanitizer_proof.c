/* SPDX-License-Identifier: MIT
 * sanitizer_proof.c: linked only into programs of a build with sanitizers. Makes a mistake at the
 * program's exit if PEERLAB_SANITIZER_PROOF requests it: "PROGRAM=address" or "PROGRAM=undefined".
 * tests/sanitize checks that it is reported.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void use_freed(void)
{
    char *volatile freed = malloc(8); /* volatile, so that no compiler sees the mistake */
    free(freed);
    *(volatile char *)freed = 1;
}

static void overflow(void)
{
    volatile int most = INT_MAX;
    most++;
}

__attribute__((destructor)) static void make_mistake(void)
{
    const char *wanted = getenv("PEERLAB_SANITIZER_PROOF");
    size_t length = strlen(program_invocation_short_name);
    if (!wanted || strncmp(wanted, program_invocation_short_name, length) != 0)
        return;
    if (strcmp(wanted + length, "=address") == 0)
        use_freed();
    else if (strcmp(wanted + length, "=undefined") == 0)
        overflow();
}

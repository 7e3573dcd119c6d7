/* SPDX-License-Identifier: MIT
 * sanitizer_proof.c: in programs of a build with sanitizers, and in no other. Makes a mistake while
 * the program ends, if PEERLAB_SANITIZER_PROOF says so: "PROGRAM=address" or "PROGRAM=undefined".
 * tests/sanitize asks whether it is noticed.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void use_freed(void)
{
    char *volatile freed = malloc(8); /* volatile: no compiler sees the mistake */
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

/* SPDX-License-Identifier: MIT
 * supervise.c: waits outside of the sandbox for the program in it.
 *
 * Without a control group the kernel limits neither the memory of all processes together nor shared
 * memory. So their memory is also measured here, four times a second.
 */
#include "jail.h"
#include "process.h"

#include <unistd.h>

static struct jail_policy policy;

static bool is_too_large(void)
{
    struct lab_usage usage;
    lab__usage(0, policy.data_bytes, &usage);
    return policy.data_bytes && usage.memory_bytes > policy.data_bytes;
}

int jail_supervise(char *words[])
{
    jail_read_policy(words[1], &policy);
    words[0] = (char *)"lab-jail";
    if (lab__guard(is_too_large) == 0)
        execv("/proc/self/exe", words);
    return JAIL_BROKEN;
}
